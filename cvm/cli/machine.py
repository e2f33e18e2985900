"""What the command line asks this machine: its platform, and the time."""

from __future__ import annotations

import os
from datetime import datetime, timezone

from cvm.core.platform import platform_of
from cvm.errors import UsageError


def this_platform() -> str:
    """Name the platform that cvm runs on; raises UsageError where NVIDIA publishes nothing."""
    uname = os.uname()
    return platform_of(uname.sysname, uname.machine)


def native_platform() -> str:
    """Name the platform that cvm runs on, or the machine where NVIDIA publishes nothing for it."""
    try:
        return this_platform()
    except UsageError:
        return os.uname().machine


def now() -> str:
    """Return the time for a receipt: ISO 8601, UTC, in seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
