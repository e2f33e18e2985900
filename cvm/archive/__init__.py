"""Unpacking an archive while its bytes arrive, in bounded memory, refusing whatever would leave its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.archive.feed import Feed
from cvm.archive.tree import MAX_MEMBERS, Tree
from cvm.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from cvm.core.entry import StoredFile

__all__ = ["MAX_MEMBERS", "can_unpack", "unpack"]

_ZIPS = (".whl", ".zip")
_TARS = (".tar", ".tar.xz", ".txz", ".tar.gz", ".tgz")


def can_unpack(filename: str) -> bool:
    """Say whether a file's name tells a kind of archive that `unpack` reads."""
    return filename.endswith((*_ZIPS, *_TARS))


def unpack(chunks: Iterable[bytes], filename: str, target: Path, *, limit: int | None = None) -> tuple[StoredFile, ...]:
    """Unpack an archive into a folder that exists and is empty; the name tells the kind of archive.

    `limit` caps the unpacked bytes. Files get their final, read-only modes. What the archive holds
    is returned in the order of its paths. The caller removes `target` after an error: raises IntegrityError for an
    archive that is damaged or unsafe, OSError for what the disk refuses.
    """
    reader = _reader(filename)
    feed = Feed(iter(chunks), filename)
    tree = Tree(target, filename, limit, hashing=not filename.endswith(".whl"))
    reader(feed, tree)
    feed.drain()
    return tree.finish()


def _reader(filename: str) -> Callable[[Feed, Tree], None]:
    # lzma and tarfile are for archives, isal for wheels: a worker loads what its jobs need.
    if filename.endswith(_ZIPS):
        from cvm.archive.zip import read_zip

        return read_zip
    if filename.endswith(_TARS):
        from cvm.archive.tar import read_tar

        return read_tar
    raise IntegrityError(f"{filename} is no kind of archive that can be unpacked: {', '.join((*_ZIPS, *_TARS))}")
