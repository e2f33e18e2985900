"""The bytes of an archive that have arrived so far, kept so that a broken download goes on where it stopped."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from cvm.disk import disk_error, make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

_BLOCK = 1 << 18


class Part:
    """An open `<sha256>.part`; where another process holds it already, nothing is read and nothing kept.

    All methods raise DiskError for what the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.length = 0
        try:
            make_folder(path.parent)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._ours = self._lock()
            if self._ours:
                self.length = os.fstat(self._descriptor).st_size
        except OSError as error:
            raise disk_error(error, path) from error

    def __enter__(self) -> Part:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._ours and not os.fstat(self._descriptor).st_size:
            with suppress(OSError):
                self._path.unlink()
        os.close(self._descriptor)

    def blocks(self) -> Iterator[bytes]:
        """Yield what is there, from the start."""
        position = 0
        while position < self.length and (block := os.pread(self._descriptor, _BLOCK, position)):
            position += len(block)
            yield block

    def keep(self, data: bytes) -> None:
        """Append bytes."""
        if not self._ours:
            return
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                written += os.write(self._descriptor, memoryview(data)[written:])
        except OSError as error:
            raise disk_error(error, self._path) from error

    def discard(self) -> None:
        """Throw away what is there."""
        if self._ours:
            self.length = 0
            os.ftruncate(self._descriptor, 0)

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
