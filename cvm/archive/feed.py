"""The bytes of an archive as a parser wants them: exactly so many, or whatever is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Feed:
    """A stream of chunks that can be read by length; `position` counts the bytes taken so far."""

    def __init__(self, chunks: Iterator[bytes], name: str) -> None:
        self.name = name
        self.position = 0
        self._chunks = chunks
        self._ahead = memoryview(b"")

    def some(self, most: int) -> memoryview:
        """Take what is at hand, at most `most` bytes; empty only at the end of the archive."""
        if not self._ahead:
            self._ahead = self._next()
        taken, self._ahead = self._ahead[:most], self._ahead[most:]
        self.position += len(taken)
        return taken

    def exactly(self, length: int) -> bytes:
        """Take so many bytes; raises IntegrityError when the archive ends before."""
        parts = []
        while length:
            part = self.some(length)
            if not part:
                raise self.cut_off()
            parts.append(part)
            length -= len(part)
        return parts[0].tobytes() if len(parts) == 1 else b"".join(parts)

    def put_back(self, data: bytes) -> None:
        """Return bytes that were taken, the last of the stream so far, to be read again."""
        if data:
            self.position -= len(data)
            self._ahead = memoryview(data + self._ahead.tobytes())

    def drain(self) -> None:
        """Take the rest, so that who feeds the stream sees all of it and can compare its hash."""
        while rest := self.some(1 << 20):
            if any(rest):
                raise IntegrityError(f"{self.name} has bytes after its end")

    def cut_off(self) -> IntegrityError:
        """Describe an archive that ends too early."""
        return IntegrityError(f"{self.name} ends too early, after {self.position} bytes")

    def damaged(self, what: str) -> IntegrityError:
        """Describe an archive that is not what it should be."""
        return IntegrityError(f"{self.name} is damaged: {what}")

    def _next(self) -> memoryview:
        for chunk in self._chunks:
            if chunk:
                return memoryview(chunk)
        return memoryview(b"")
