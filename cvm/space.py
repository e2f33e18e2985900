"""Whether what is to be written has room, asked before the first byte is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cvm.core.size import human_size
from cvm.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def check_space(needs: Mapping[Path, int]) -> None:
    """Compare the bytes to be written to each folder with what its file system has free for this user.

    Folders on one file system are taken together; a folder need not exist yet. Raises DiskError for the first that is
    too full.
    """
    wanted: dict[int, tuple[Path, int]] = {}
    for folder, size in needs.items():
        place = _existing(folder)
        device = place.stat().st_dev
        first, sum_ = wanted.get(device, (folder, 0))
        wanted[device] = (first, sum_ + size)
    for folder, size in wanted.values():
        free = free_bytes(folder)
        if size > free:
            raise DiskError(
                f"{human_size(size)} are needed in {folder} and {human_size(free)} are free: "
                f"{human_size(size - free)} are missing",
                hint="cvm prune, or set CVM_HOME to a larger disk",
            )


def free_bytes(folder: Path) -> int:
    """Return what this user may still write where a folder is, or will be."""
    status = os.statvfs(_existing(folder))
    return status.f_bavail * status.f_frsize


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())
