"""Tar archives, plain or compressed by gzip or xz, read from front to back."""

from __future__ import annotations

import tarfile
from typing import IO, TYPE_CHECKING, Any, cast

from cvm.archive.inflate import TAKE, decompress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cvm.archive.feed import Feed
    from cvm.archive.tree import Tree

_XZ = (".tar.xz", ".txz")
_GZIP = (".tar.gz", ".tgz")
# The dictionary of `xz -9` takes 64 MiB.
_XZ_MEMORY = 100 << 20
_ZEROS = bytes(tarfile.BLOCKSIZE)


def read_tar(feed: Feed, tree: Tree) -> None:
    """Unpack a tar archive into a tree; raises IntegrityError."""
    stream = _Forward(feed, _blocks(feed))
    try:
        # Never extract(): `tree` has rules of its own, stricter than any filter's.
        with tarfile.TarFile(fileobj=cast("IO[bytes]", stream), mode="r", encoding="utf-8") as archive:
            # Python 3.10 seeks backwards when it is asked again for the first member of an empty archive.
            while (archive.firstmember or archive.offset) and (member := archive.next()):  # type: ignore[attr-defined]
                _read_member(stream, tree, archive, member)
                # tarfile keeps every member it has seen.
                archive.members = []  # type: ignore[attr-defined]
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise feed.damaged(str(error)) from error
    # tarfile takes an unreadable header for the end.
    if stream.last != _ZEROS:
        raise feed.cut_off()
    stream.drain()


def _read_member(stream: _Forward, tree: Tree, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    if member.isdir():
        tree.folder(member.name)
    elif member.issym():
        tree.link(member.name, member.linkname)
    elif member.islnk():
        tree.hard_link(member.name, member.linkname)
    elif member.issparse():
        contents = archive.extractfile(member)
        assert contents is not None
        tree.file(member.name, iter(lambda: contents.read(TAKE), b""), member.mode & 0o7777)
    elif member.isreg():
        tree.file(member.name, stream.blocks(member.size), member.mode & 0o7777)
    else:
        raise tree.unsafe(f"{member.name} is neither a file, a folder nor a link")


def _blocks(feed: Feed) -> Iterator[bytes | memoryview]:
    if feed.name.endswith(_XZ):
        return _streams(feed, _xz_engine)
    if feed.name.endswith(_GZIP):
        return _streams(feed, _gzip_engine)
    return iter(lambda: feed.some(TAKE), b"")


def _streams(feed: Feed, engine: Callable[[], Any]) -> Iterator[bytes]:
    """Decompress one stream after the other: both formats allow several in a file, and zeros at the end."""
    yield from decompress(feed, engine())
    while start := bytes(feed.some(TAKE).tobytes().lstrip(b"\0")) or _more(feed):
        feed.put_back(start)
        yield from decompress(feed, engine())


def _more(feed: Feed) -> bytes:
    while data := feed.some(TAKE):
        if stripped := data.tobytes().lstrip(b"\0"):
            return stripped
    return b""


def _xz_engine() -> Any:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


def _gzip_engine() -> Any:
    from isal import igzip_lib

    return igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)


class _Forward:
    """As much of a file as `tarfile` needs: it reads and it moves forward; `last` is what was read last."""

    def __init__(self, feed: Feed, source: Iterator[bytes | memoryview]) -> None:
        self.last = b""
        self._feed = feed
        self._source = source
        self._block: memoryview = memoryview(b"")
        self._position = 0

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        if position < self._position:
            raise ValueError("its members overlap")
        for _ in self.blocks(position - self._position):
            pass

    def read(self, length: int) -> bytes:
        parts = []
        while length and (part := self._some(length)):
            parts.append(part)
            length -= len(part)
        self.last = b"".join(parts)
        return self.last

    def blocks(self, length: int) -> Iterator[memoryview]:
        """Yield the next bytes; raises IntegrityError when there are fewer."""
        while length:
            part = self._some(length)
            if not part:
                raise self._feed.cut_off()
            length -= len(part)
            yield part

    def drain(self) -> None:
        """Read what pads the archive, so that the end of the compressed stream is seen."""
        while self._some(1 << 20):
            pass

    def _some(self, most: int) -> memoryview:
        while not self._block:
            block = next(self._source, None)
            if block is None:
                return memoryview(b"")
            self._block = memoryview(block)
        part, self._block = self._block[:most], self._block[most:]
        self._position += len(part)
        return part
