"""Decompressing a stream with isal: two to three times as fast as zlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.archive.feed import Feed

# Measured: 256 KiB in and up to 1 MiB out is the fastest; larger blocks cost page faults, smaller ones copies.
TAKE = 1 << 18
BLOCK = 1 << 20


def inflate(feed: Feed, packed: int | None) -> Iterator[bytes]:
    """Yield the bytes of a raw deflate stream that is `packed` bytes long, or as long as it says itself.

    Raises IntegrityError for one that is damaged.
    """
    from isal import igzip_lib

    start = feed.position
    yield from decompress(feed, igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_DEFLATE), packed)
    if packed is not None and feed.position - start != packed:
        raise feed.damaged("a member is shorter than it says")


def decompress(feed: Feed, engine: Any, packed: int | None = None) -> Iterator[bytes]:
    """Yield what a decompressor makes of a feed until its stream ends; what it took too much is put back.

    An engine has `decompress(data, max_length)`, `eof`, `needs_input` and `unused_data`. Raises IntegrityError.
    """
    left = packed if packed is not None else 1 << 62
    while not engine.eof:
        data = feed.some(min(left, TAKE)) if engine.needs_input else b""
        left -= len(data)
        if engine.needs_input and not data:
            raise feed.cut_off() if left else feed.damaged("a member is longer than it says")
        if block := _step(feed, engine, data):
            yield block
    feed.put_back(engine.unused_data)


def _step(feed: Feed, engine: Any, data: bytes | memoryview) -> bytes:
    try:
        block: bytes = engine.decompress(data, BLOCK)
    except Exception as error:
        # igzip_lib.IsalError and lzma.LZMAError: both derive from Exception alone, and only one module is loaded.
        if isinstance(error, MemoryError):
            raise
        raise feed.damaged(str(error) or type(error).__name__) from error
    return block
