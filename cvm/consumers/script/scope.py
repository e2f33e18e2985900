"""Where names live: the locals of a function or class, and what they close over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cvm.consumers.script.values import Class, Module, Value

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """A set of names; `parent` is the enclosing function's, None directly below the module.

    `bound` are the names that a function assigns: read before that, they are an UnboundLocalError.
    """

    def __init__(
        self, module: Module, names: dict[str, Value], parent: Scope | None = None, bound: frozenset[str] = frozenset()
    ) -> None:
        self.module = module
        self.names = names
        self.parent = parent
        self.bound = bound
        self.elsewhere: dict[str, Scope | None] = {}
        self.is_class = False
        self.yields: list[Value] | None = None
        # What a context manager runs at its `yield`.
        self.at_yield: Callable[[Value], None] | None = None
        # The class that a method stands in.
        self.owner: Class | None = None
        # A branch that may have been taken leaves: why nothing behind it is certain.
        self.doubt: str | None = None

    def set(self, name: str, value: Value) -> None:
        """Bind a name where its declaration says."""
        if name in self.elsewhere:
            target = self.elsewhere[name]
            (self.module.names if target is None else target.names)[name] = value
        else:
            self.names[name] = value

    def find(self, name: str) -> dict[str, Value] | None:
        """Return the names that hold a name, None where none do; raises KeyError for a local that isn't bound yet."""
        if name in self.names:
            return self.names
        if name in self.bound and name not in self.elsewhere:
            raise KeyError(name)
        outer = None if self.elsewhere.get(name, self) is None else self.parent
        while outer is not None:
            if name in outer.names and not outer.is_class:
                return outer.names
            outer = outer.parent
        return self.module.names if name in self.module.names else None

    def declare(self, names: list[str], *, is_global: bool) -> None:
        """Follow `global` and `nonlocal`."""
        for name in names:
            outer = None if is_global else self.parent
            while outer is not None and name not in outer.names and outer.parent is not None:
                outer = outer.parent
            self.elsewhere[name] = outer


def assigned(body: list[ast.stmt]) -> frozenset[str]:
    """Return the names that statements bind, those of functions within them left out."""
    return frozenset(name for node in within(body) for name in _bound_by(node))


def within(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of statements, but not what is in functions, classes and comprehensions."""
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, _SCOPES):
            queue += ast.iter_child_nodes(node)


def _bound_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [one.asname or one.name.partition(".")[0] for one in node.names if one.name != "*"]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    return []
