"""Whether code may load something: the words that it has, and those of the functions that it names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.script.text import LOAD_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Mentions(NamedTuple):
    """The names that code uses, and the modules that it imports as (dots, name, names)."""

    names: frozenset[str]
    imports: tuple[tuple[int, str, tuple[str, ...]], ...]


class Definitions:
    """The functions and classes that were defined, by name.

    Names stand for whatever has that name anywhere: a load is found too often rather than too seldom.
    `loads_by_import` says whether an import loads something.
    """

    def __init__(self, loads_by_import: Callable[[int, str, tuple[str, ...]], bool]) -> None:
        self._nodes: dict[str, list[ast.AST]] = {}
        self._mentions: dict[ast.AST, Mentions] = {}
        self._loads_by_import = loads_by_import

    def add(self, name: str, node: ast.AST) -> None:
        """Remember a definition."""
        self._nodes.setdefault(name, []).append(node)

    def may_load(self, nodes: Iterable[ast.AST], *, imports: bool = True) -> bool:
        """Whether code may load something, by itself or by what it names, with or without its imports."""
        queue, seen = list(nodes), set[str]()
        while queue:
            mentions = self._of(queue.pop())
            if mentions.names & LOAD_WORDS:
                return True
            if imports and any(self._loads_by_import(*one) for one in mentions.imports):
                return True
            for name in mentions.names - seen:
                queue += self._nodes.get(name, ())
            seen |= mentions.names
        return False

    def _of(self, node: ast.AST) -> Mentions:
        known = self._mentions.get(node)
        if known is None:
            known = self._mentions[node] = _mentions(node)
        return known


def _mentions(node: ast.AST) -> Mentions:
    names: set[str] = set()
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            names.add(one.id)
        elif isinstance(one, ast.Attribute):
            names.add(one.attr)
        elif isinstance(one, ast.Import):
            imports += [(0, each.name, ()) for each in one.names]
        elif isinstance(one, ast.ImportFrom):
            imports.append((one.level, one.module or "", tuple(each.name for each in one.names)))
    return Mentions(frozenset(names), tuple(imports))
