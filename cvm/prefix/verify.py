"""Comparing a prefix with the table of its files."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.prefix.tree import hash_file, link_text, walk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CHANGED = "changed"
MISSING = "missing"
EXTRA = "extra"

_THREADS = 8


@dataclass(frozen=True, slots=True)
class Change:
    """A path that is not as it was installed: `changed`, `missing` or `extra`."""

    path: str
    kind: str


def verify(
    prefix: Path,
    files: Mapping[str, str],
    *,
    extra: bool = False,
) -> tuple[Change, ...]:
    """Hash the files of a prefix again and name what differs, in order of the paths.

    `extra` also names files that nobody installed.
    """
    there = {path: entry for path, entry in walk(prefix) if extra or path in files}

    def compare(path: str) -> Change | None:
        kind = _kind(there.get(path), files[path])
        return Change(path, kind) if kind else None

    # hashlib lets other threads run while it works on a large buffer.
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        found = [change for change in pool.map(compare, files) if change]
    found += [Change(path, EXTRA) for path in there if path not in files]
    return tuple(sorted(found, key=lambda change: change.path))


def _kind(entry: os.DirEntry[str] | None, mark: str) -> str:
    if entry is None:
        return MISSING
    if entry.is_symlink():
        return "" if link_text(entry) == mark else CHANGED
    try:
        return "" if hash_file(entry.path) == mark else CHANGED
    except OSError:
        # A file that can't be read is not as it was installed.
        return CHANGED
