"""Which file of which archive stands where in a prefix: decided before anything is written."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.placement import Placement, placement
from cvm.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.core.entry import StoredFile
    from cvm.prefix.parts import Part, PrefixFacts


@dataclass(frozen=True, slots=True)
class Placed:
    """One path of the prefix: a file of a part, or a link when `target` is set."""

    path: str
    part: Part
    file: StoredFile
    target: str = ""

    def same_as(self, other: Placed) -> bool:
        """Whether two archives bring the very same thing."""
        return self.file.sha256 == other.file.sha256 and self.target == other.target


@dataclass(frozen=True, slots=True)
class Merged:
    """The paths of a prefix, and a note for each file that two archives bring with other content."""

    placed: Mapping[str, Placed]
    notes: tuple[str, ...]


def merge(parts: Sequence[Part], facts: PrefixFacts) -> Merged:
    """Lay archives over each other.

    Where two bring one path, the earlier in the plan keeps it (the toolkit before its companions), and
    a note says so when the contents differ. Raises IntegrityError when a file would lie in a file.
    """
    placed: dict[str, Placed] = {}
    notes: list[str] = []
    for part in parts:
        for item in _placed(part, facts):
            holder = placed.setdefault(item.path, item)
            if holder is not item and not holder.same_as(item):
                placed[item.path] = kept = _preferred(holder, item)
                if not (holder.part is item.part and (holder.target or item.target)):
                    notes.append(_conflict(kept, item if kept is holder else holder))
    whole = {path: item for path, item in placed.items() if not item.target or _resolves(item, placed)}
    _refuse_nesting(whole)
    return Merged(whole, tuple(notes))


def _preferred(holder: Placed, item: Placed) -> Placed:
    return item if holder.target and not item.target else holder


def _conflict(kept: Placed, left: Placed) -> str:
    return f"conflict: {kept.path} is that of {kept.part.label}; {left.part.label} brings another, which was left out"


def _placed(part: Part, facts: PrefixFacts) -> Iterator[Placed]:
    files = part.entry.files
    where = placement(
        part.planned.component,
        part.planned.archive.filename,
        [file.path for file in files],
        facts.toolkit,
        facts.platform,
    )
    names = {file.path for file in files}
    for file in files:
        path = where.link(file.path) if file.is_link else where.file(file.path)
        if path is None:
            continue
        if not file.is_link:
            yield Placed(path, part, file)
        elif target := _target(file, path, where, names):
            yield Placed(path, part, file, target)


def _target(file: StoredFile, path: str, where: Placement, names: set[str]) -> str:
    """Return the target of a link after everything moved, or nothing for one that leads nowhere."""
    member = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), file.target))
    if file.target.startswith("/") or member.startswith(".."):
        return ""
    moved = where.file(member) if member in names else where.folder(member)
    if moved is None or moved == path:
        return ""
    return posixpath.relpath(moved, posixpath.dirname(path) or ".")


def _resolves(item: Placed, placed: Mapping[str, Placed]) -> bool:
    aim = posixpath.normpath(posixpath.join(posixpath.dirname(item.path), item.target))
    return aim in placed or any(path.startswith(aim + "/") for path in placed)


def _refuse_nesting(placed: Mapping[str, Placed]) -> None:
    for path, item in placed.items():
        folder = posixpath.dirname(path)
        while folder:
            if (file := placed.get(folder)) is not None:
                raise IntegrityError(f"{file.part.label} has a file {folder} where {item.part.label} has a folder")
            folder = posixpath.dirname(folder)
