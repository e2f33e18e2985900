"""The files of a prefix as a table: path -> sha256, or `-> target` for a symbolic link."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.layout import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_LINK = "-> "


@dataclass(frozen=True, slots=True)
class Hashed:
    """The known hash of a file, good as long as the path still has that inode."""

    sha256: str
    inode: int


def inventory(prefix: Path, hashed: Mapping[str, Hashed]) -> dict[str, str]:
    """List a prefix, hashing only the files whose hash isn't known or that were replaced since."""
    return {
        path: link_text(entry) if entry.is_symlink() else _known(path, entry, hashed) or hash_file(entry.path)
        for path, entry in walk(prefix)
    }


def walk(prefix: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield every file and link with its path in the prefix, in order; cvm's own records are left out."""
    yield from _walk(os.fspath(prefix), "")


def _walk(folder: str, path: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        inner = f"{path}{entry.name}"
        if not entry.is_dir(follow_symlinks=False):
            yield inner, entry
        elif inner != RECORDS:
            yield from _walk(entry.path, inner + "/")


def link_text(entry: os.DirEntry[str]) -> str:
    """Spell a link the way the table has it."""
    return _LINK + os.readlink(entry)  # noqa: PTH115 - a name that is no UTF-8 stays as it is


def hash_file(path: str) -> str:
    """Hash a file's content with little memory."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(1 << 20))
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - called for thousands of files
        while count := stream.readinto(buffer):
            digest.update(buffer[:count])
    return digest.hexdigest()


def _known(path: str, entry: os.DirEntry[str], hashed: Mapping[str, Hashed]) -> str:
    known = hashed.get(path)
    return known.sha256 if known is not None and known.inode == entry.inode() else ""
