"""Files that note what was asked of them: an answer made from them holds as long as those files are as they were."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cvm.elf.files import Disk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cvm.elf.elf import Elf
    from cvm.elf.files import Identity

# Which file a path leads to (device, inode), and where its content was read also size and nanoseconds of its last
# change; nothing for what isn't there.
Stamp = tuple[int, ...]

_NOTHING: Stamp = ()

# Of what the kernel makes up when it is asked, times and numbers mean nothing.
_MADE_UP = ("/proc/", "/sys/", "/dev")


class Watched(Disk):
    """A disk that notes each path that is asked for, and whether its content was."""

    def __init__(self, root: str = "/") -> None:
        super().__init__(root)
        self._read: dict[str, bool] = {}

    def stamps(self) -> dict[str, Stamp]:
        """Return what is there now at every path that was asked for, but for those of the kernel's own file systems."""
        real = ((path, read) for path, read in self._read.items() if not path.startswith(_MADE_UP))
        return {path: _stamp(path, read=read) for path, read in real}

    def identity(self, path: str) -> Identity | int:
        """Note and answer; see `Files`."""
        self._read.setdefault(path, False)
        return super().identity(path)

    def is_folder(self, path: str) -> bool:
        """Note and answer; see `Files`."""
        self._read.setdefault(path, False)
        return super().is_folder(path)

    def elf(self, path: str) -> Elf:
        """Note and answer; see `Files`."""
        self._read[path] = True
        return super().elf(path)

    def content(self, path: str) -> bytes:
        """Note and answer; see `Files`."""
        self._read[path] = True
        return super().content(path)

    def names(self, folder: str) -> Sequence[str]:
        """Note and answer; see `Files`."""
        self._read[folder] = True
        return super().names(folder)

    def real(self, path: str) -> str:
        """Note and answer; see `Files`."""
        self._read.setdefault(path, False)
        return super().real(path)


def unchanged(known: Mapping[str, Sequence[int]]) -> bool:
    """Whether every path still leads to what its stamp says."""
    return all(_stamp(path, read=len(stamp) > 2) == tuple(stamp) for path, stamp in known.items())


def _stamp(path: str, *, read: bool) -> Stamp:
    try:
        found = os.stat(path)  # noqa: PTH116 - called thousands of times
    except (OSError, ValueError):
        return _NOTHING
    where = found.st_dev, found.st_ino
    return (*where, found.st_size, found.st_mtime_ns) if read else where
