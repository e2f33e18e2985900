"""Putting a file of the store into a prefix without a second copy of its bytes, where the disk allows it."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass, field
from fcntl import ioctl
from typing import TYPE_CHECKING

from cvm.disk import disk_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# linux/fs.h: _IOW(0x94, 9, int)
_FICLONE = 0x40049409

# This way does not work between these two places, or not for this file: try the next one.
_NOT_THIS_WAY = frozenset(
    {
        errno.EOPNOTSUPP,
        errno.ENOTTY,
        errno.EINVAL,
        errno.ENOSYS,
        errno.EXDEV,
        errno.EPERM,
        errno.EACCES,
        errno.ETXTBSY,
    }
)
# True of one file, not of the place: a file has too many links already.
_THIS_FILE_ONLY = frozenset({errno.EMLINK})


@dataclass(slots=True)
class Linker:
    """Reflinks, else hard-links, else copies; remembers per device and owner which of them works.

    The kernel refuses hard links to another user's files (fs.protected_hardlinks), so that a
    site's store is reflinked or copied.
    """

    _way: dict[tuple[int, int], int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def place(self, source: Path, target: Path) -> int:
        """Make `target`, which must not exist, a file like `source`; returns its inode, raises DiskError."""
        try:
            return self._place(source, target)
        except OSError as error:
            raise disk_error(error, target) from error

    def _place(self, source: Path, target: Path) -> int:
        status = source.stat()
        key = (status.st_dev, status.st_uid)
        way = self._way.get(key, 0)
        while True:
            name, function = _WAYS[way]
            try:
                inode = function(source, target, status)
            except OSError as error:
                last = way + 1 == len(_WAYS)
                if last or error.errno not in _NOT_THIS_WAY | _THIS_FILE_ONLY:
                    raise
                way += 1
                if error.errno not in _THIS_FILE_ONLY:
                    self._way[key] = way
            else:
                self.counts[name] = self.counts.get(name, 0) + 1
                return inode


def _reflink(source: Path, target: Path, status: os.stat_result) -> int:
    with source.open("rb") as reader, target.open("xb") as writer:
        try:
            ioctl(writer.fileno(), _FICLONE, reader.fileno())
        except OSError:
            target.unlink()
            raise
    return _finish(target, status)


def _hard_link(source: Path, target: Path, status: os.stat_result) -> int:
    os.link(source, target)
    return status.st_ino


def _copy(source: Path, target: Path, status: os.stat_result) -> int:
    shutil.copyfile(source, target)
    return _finish(target, status)


def _finish(target: Path, status: os.stat_result) -> int:
    target.chmod(status.st_mode & 0o7777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return target.stat().st_ino


_WAYS: tuple[tuple[str, Callable[[Path, Path, os.stat_result], int]], ...] = (
    ("reflink", _reflink),
    ("hard link", _hard_link),
    ("copy", _copy),
)
