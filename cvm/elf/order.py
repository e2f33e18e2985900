"""The order in which glibc relocates the files of one load: dependencies before what needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.elf.runtime import DEPTH_FIRST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.elf.mapped import Mapped


def relocation_order(group: Sequence[Mapped], glibc: tuple[int, int]) -> list[Mapped]:
    """Return the files of a load (its root in front, breadth first) in the order of their relocation."""
    ordered = _depth_first(group) if glibc >= DEPTH_FIRST else _pushed_back(group)
    return ordered[::-1]


def _depth_first(group: Sequence[Mapped]) -> list[Mapped]:
    """Sort as glibc does since 2.35: depth first from the end, the root put back in front."""
    done: set[Mapped] = set()
    placed: list[Mapped] = []
    for start in reversed(group):
        if start not in done:
            _visit(start, group[0], done, placed)
    ordered = placed[::-1]
    ordered.remove(group[0])
    return [group[0], *ordered]


def _visit(start: Mapped, root: Mapped, done: set[Mapped], placed: list[Mapped]) -> None:
    """Place what a file needs, then the file; the root's own list isn't known yet when glibc sorts."""
    done.add(start)
    stack = [(start, iter(_needed(start, root)))]
    while stack:
        one, rest = stack[-1]
        deeper = next((other for other in rest if other not in done), None)
        if deeper is None:
            placed.append(one)
            stack.pop()
        else:
            done.add(deeper)
            stack.append((deeper, iter(_needed(deeper, root))))


def _pushed_back(group: Sequence[Mapped]) -> list[Mapped]:
    """Sort as glibc did up to 2.34: move a file behind the last one that needs it, until nothing moves."""
    root, *rest = group
    seen = dict.fromkeys(rest, 0)
    place = 0
    while place < len(rest):
        one = rest[place]
        seen[one] += 1
        target = _last_that_needs(one, rest, place, root)
        if target is not None:
            rest.insert(target, rest.pop(place))
            if seen[rest[place]] <= len(rest) - place:
                continue
        place += 1
        seen.update(dict.fromkeys(rest[place:], 0))
    return [root, *rest]


def _last_that_needs(one: Mapped, rest: Sequence[Mapped], place: int, root: Mapped) -> int | None:
    for later in range(len(rest) - 1, place, -1):
        if one in _needed(rest[later], root):
            return later
    return None


def _needed(one: Mapped, root: Mapped) -> Sequence[Mapped]:
    return () if one is root else one.needed or ()
