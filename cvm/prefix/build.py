"""Building a prefix: merge the archives, link the files, repair what NVIDIA's archives leave to an installer."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.disk import disk_error
from cvm.prefix.merge import Merged, merge
from cvm.prefix.repairs import repair
from cvm.prefix.tree import Hashed, inventory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cvm.prefix.linker import Linker
    from cvm.prefix.parts import Part, PrefixFacts


@dataclass(frozen=True, slots=True)
class Built:
    """A finished tree: path -> sha256 (or `-> target`), and what was done beyond copying."""

    files: Mapping[str, str]
    repairs: tuple[str, ...]


def build(parts: Sequence[Part], target: Path, facts: PrefixFacts, linker: Linker) -> Built:
    """Build a prefix in `target`, an empty or missing folder that the caller renames into place.

    Raises DiskError, IncompatibleError for an archive without libraries for this toolkit, IntegrityError for
    archives that can't lie over each other.
    """
    merged = merge(parts, facts)
    try:
        _make_folders(merged, target)
        hashed = _place_files(merged, target, linker)
        _make_links(merged, target)
        repairs = (*merged.notes, *repair(target, facts))
        return Built(inventory(target, hashed), repairs)
    except OSError as error:
        raise disk_error(error, target) from error


def _make_folders(merged: Merged, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o755)
    folders = {posixpath.dirname(path) for path in merged.placed}
    parents = {parent for folder in folders for parent in _parents(folder)}
    for name in sorted(folders | parents):
        path = target / name
        path.mkdir(exist_ok=True)
        # Another user may run what is in it, whatever the umask of the one who installs.
        path.chmod(0o755)


def _parents(folder: str) -> list[str]:
    parents = []
    while folder := posixpath.dirname(folder):
        parents.append(folder)
    return parents


def _place_files(merged: Merged, target: Path, linker: Linker) -> dict[str, Hashed]:
    hashed = {}
    for path, item in merged.placed.items():
        if not item.target:
            inode = linker.place(item.part.entry.tree / item.file.path, target / path)
            hashed[path] = Hashed(item.file.sha256, inode)
    return hashed


def _make_links(merged: Merged, target: Path) -> None:
    for path, item in merged.placed.items():
        if item.target:
            (target / path).symlink_to(item.target)
