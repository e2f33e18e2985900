"""How far a module must be followed: to the last of its statements that may load something, judged by words alone."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.script.text import LOAD_WORDS, START

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"[^\W\d]\w*")
_DEFINITION = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
# What a statement binds, by `=`, `as`, `def`, `class`, `global` or `import`.
_BOUND = re.compile(
    r"^[ \t]*([\w, \t]+?)[ \t]*(?::[^=\n]+)?=|\bas[ \t]+(\w+)|\b(?:def|class)[ \t]+(\w+)|\bglobal[ \t]+([\w, \t]+)",
    re.MULTILINE,
)
_GLOBAL = re.compile(r"\bglobal[ \t]+([\w, \t]+)")


class _Part(NamedTuple):
    """A statement of a module: where it starts, its words, and the names that it binds."""

    start: int
    words: frozenset[str]
    bound: frozenset[str]
    imports: bool


def last_load(text: str, package: str) -> int:
    """Return the line of the last statement that may load something or imports from the package, 0 where none does."""
    own = re.compile(
        rf"^[ \t]*(?:from[ \t]+(?:\.|{re.escape(package)}\b)|import[ \t]+{re.escape(package)}\b)", re.MULTILINE
    )
    parts = list(_parts(text, own))
    names = set(LOAD_WORDS)
    before = 0
    while before != len(names):
        before = len(names)
        for one in parts:
            if one.imports or one.words & names:
                names |= one.bound
    last = max((one.start for one in parts if one.words & names), default=-1)
    return text.count("\n", 0, last) + 1 if last >= 0 else 0


def _parts(text: str, own: re.Pattern[str]) -> Iterator[_Part]:
    starts = [match.start() for match in START.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        imports = own.search(part) is not None
        words = frozenset(_WORD.findall(part))
        yield _Part(start, words, words if imports else _bound(part), imports)


def _bound(part: str) -> frozenset[str]:
    definition = _DEFINITION.match(part)
    if definition:
        found = [definition[1], *_GLOBAL.findall(part)]
    else:
        found = ["".join(match) for match in _BOUND.findall(part)]
    return frozenset(word for one in found for word in _WORD.findall(one))
