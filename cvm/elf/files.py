"""Where the loader's model gets its files from: this machine's disk, or an image unpacked below a folder."""

from __future__ import annotations

import errno
import mmap
import os
import posixpath
import stat
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cvm.elf.elf import Elf

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_LINKS = 40
_PIECE, _MOST_PIECES = 64 << 10, 1 << 10


class Identity(NamedTuple):
    """What makes two paths the same file."""

    device: int
    inode: int


class Files(Protocol):
    """What the model asks of a file system; every path is absolute."""

    def identity(self, path: str) -> Identity | int:
        """Return which file a path leads to, or the error number of opening it."""

    def is_folder(self, path: str) -> bool:
        """Whether a path leads to a folder."""

    def elf(self, path: str) -> Elf:
        """Return a file's bytes to read parts of; raises OSError."""

    def content(self, path: str) -> bytes:
        """Return all of a small file; raises OSError."""

    def names(self, folder: str) -> Sequence[str]:
        """Return the names in a folder; none where there is none."""

    def real(self, path: str) -> str:
        """Return the path without symbolic links, as a program in there would see it."""


class Disk:
    """The real files, below a root; each is opened once and kept, so that several processes share what was read.

    With a root other than `/`, links are followed as if the root were `/`: none leads out of it.
    """

    def __init__(self, root: str = "/") -> None:
        self.root = root.rstrip("/")
        self._elves: dict[Identity, Elf] = {}
        self._folders: dict[str, bool] = {}

    def identity(self, path: str) -> Identity | int:
        """Return which file a path leads to, or the error number of opening it."""
        try:
            found = os.stat(self._inside(path))  # noqa: PTH116 - called thousands of times
        except OSError as error:
            return error.errno or errno.ENOENT
        except ValueError:
            return errno.ENOENT
        return Identity(found.st_dev, found.st_ino)

    def is_folder(self, path: str) -> bool:
        """Whether a path leads to a folder."""
        known = self._folders.get(path)
        if known is None:
            known = self._folders[path] = self._is_folder(path)
        return known

    def elf(self, path: str) -> Elf:
        """Return a file's bytes to read parts of; raises OSError."""
        descriptor = self._open(path)
        try:
            found = os.fstat(descriptor)
            key = Identity(found.st_dev, found.st_ino)
            if key not in self._elves:
                self._elves[key] = Elf(_bytes(descriptor, found, path), path)
        finally:
            os.close(descriptor)
        return self._elves[key]

    def content(self, path: str) -> bytes:
        """Return all of a small file; raises OSError."""
        with open(self._open(path), "rb") as file:  # noqa: PTH123
            # In pieces: the kernel has no memory for a large read of what it makes up, as below /proc/sys.
            pieces = iter(lambda: file.read(_PIECE), b"")
            return b"".join(islice(pieces, _MOST_PIECES))

    def names(self, folder: str) -> Sequence[str]:
        """Return the names in a folder; none where there is none."""
        try:
            return os.listdir(self._inside(folder))  # noqa: PTH208
        except (OSError, ValueError):
            return ()

    def real(self, path: str) -> str:
        """Return the path without symbolic links, as a program in there would see it."""
        try:
            return self._followed(path)[len(self.root) :] or "/" if self.root else os.path.realpath(path)
        except (OSError, ValueError):
            # Links that lead in a circle, and names that no file can have.
            return path

    def _open(self, path: str) -> int:
        try:
            # Without O_NONBLOCK a pipe by that name would be waited for.
            return os.open(self._inside(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except ValueError as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error

    def _is_folder(self, path: str) -> bool:
        try:
            return os.path.isdir(self._inside(path))  # noqa: PTH112
        except (OSError, ValueError):
            return False

    def _inside(self, path: str) -> str:
        return self._followed(path) if self.root else path

    def _followed(self, path: str) -> str:
        """Follow a path below the root, link by link."""
        left = path.split("/")[::-1]
        done: list[str] = []
        links = 0
        while left:
            part = left.pop()
            if part == "..":
                # The parent of the root is the root.
                done = done[:-1]
            elif part not in ("", "."):
                target = _link(posixpath.join(self.root, *done, part))
                if target is None:
                    done.append(part)
                    continue
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                done = [] if target.startswith("/") else done
                left += target.split("/")[::-1]
        return posixpath.join(self.root, *done)


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)  # noqa: PTH115
    except (OSError, ValueError):
        return None


def _bytes(descriptor: int, found: os.stat_result, path: str) -> bytes | mmap.mmap:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return b""
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
