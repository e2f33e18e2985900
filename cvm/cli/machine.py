"""What the command line asks this machine: its platform, the time, the shell, and how cvm itself was started."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from cvm.core.platform import platform_of
from cvm.errors import UsageError
from cvm.shell import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping


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


def calling_shell(environment: Mapping[str, str]) -> str:
    """Name the shell that called: the parent process, else the person's own; bash where neither is known."""
    try:
        parent = Path(f"/proc/{os.getppid()}/comm").read_text().strip()
    except OSError:
        parent = ""
    for name in (parent, Path(environment.get("SHELL", "")).name):
        if name in SHELLS:
            return name
        if name in ("dash", "ash", "busybox", "ksh"):
            return "sh"
    return "bash"


def this_program() -> tuple[str, ...]:
    """Return the words that start this cvm again, from any folder and with any PATH."""
    called = Path(sys.argv[0])
    found = str(called.absolute()) if "/" in sys.argv[0] else which(sys.argv[0])
    if found and Path(found).name == "cvm" and os.access(found, os.X_OK):
        return (found,)
    beside = Path(sys.executable).with_name("cvm")
    if os.access(beside, os.X_OK):
        return (str(beside),)
    # Not `-m`: that would take a `cvm.py` of the folder that somebody goes into.
    return (sys.executable, "-c", "import sys; del sys.path[0]; from cvm.cli.start import run; run()")
