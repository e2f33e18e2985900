"""Statements: one after the other, in branches and in loops, and what leaves a block."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.exceptions import Exceptions
from cvm.consumers.script.scope import within
from cvm.consumers.script.signals import BREAK, CONTINUE, Opaque, Signal
from cvm.consumers.script.values import (
    Unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cvm.consumers.script.scope import Scope

    Left = Signal | None


class Statements(Exceptions):
    """The execution of statements."""

    def __init__(self) -> None:
        super().__init__()
        self._ways: dict[type[ast.stmt], Callable[..., Left]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.Break: lambda *_: BREAK,
            ast.Continue: lambda *_: CONTINUE,
            ast.Return: self._return,
            ast.Raise: self._raise,
            ast.Try: self._try,
            ast.With: self._with,
            ast.Assert: self._assert,
            ast.Delete: self._delete,
            ast.Global: self._declare,
            ast.Nonlocal: self._declare,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
        }

    def block(self, body: Iterable[ast.stmt], scope: Scope) -> Left:
        """Execute statements; return what leaves them early; raises Thrown, Exhausted."""
        for one in body:
            left = self.execute(one, scope)
            if left is not None:
                return left
        return None

    def execute(self, node: ast.stmt, scope: Scope) -> Left:
        """Execute a statement."""
        self.spend()
        self.line = node.lineno
        way = self._ways.get(type(node))
        if way is not None:
            return way(node, scope)
        if not isinstance(node, ast.Pass):
            self.skip([node], scope, f"a `{type(node).__name__.lower()}` statement")
        return None

    def skip(self, body: Sequence[ast.stmt], scope: Scope, reason: str) -> None:
        """Leave out statements of which nothing is known, but that they bind names."""
        if self.may_load(*body):
            self.cannot_tell(f"{self.place}: {reason}")
        self.forget(body, scope)

    def forget(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Take the names that statements bind for unknown."""
        for node in within(list(body)):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                scope.set(node.id, Unknown)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                scope.set(node.name, Unknown)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for one in node.names:
                    scope.set(one.asname or one.name.partition(".")[0], Unknown)

    # -- branches and loops

    def _expression(self, node: ast.Expr, scope: Scope) -> Left:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value, scope)
        return None

    def _if(self, node: ast.If, scope: Scope) -> Left:
        known = self.condition(node.test, scope)
        if known is not None:
            return self.block(node.body if known else node.orelse, scope)
        self.line = node.lineno
        loads, other = self.may_load(*node.body), self.may_load(*node.orelse)
        if loads or other:
            self.cannot_tell(f"{self.place}: whether `{ast.unparse(node.test)}` holds")
            return self.block(node.body if loads else node.orelse, scope)
        return self._unknown_branches(node, scope)

    def _unknown_branches(self, node: ast.If, scope: Scope) -> Left:
        """Leave out branches that load nothing; after one that leaves, nothing is certain."""
        self.forget([*node.body, *node.orelse], scope)
        leaves = (ast.Return, ast.Break, ast.Continue)
        if any(isinstance(inner, leaves) for inner in within([*node.body, *node.orelse])):
            scope.doubt = f"{self.place}: whether `{ast.unparse(node.test)}` holds"
        return None

    def _for(self, node: ast.For, scope: Scope) -> Left:
        try:
            for value in self.iterate(self.evaluate(node.iter, scope)):
                self.spend()
                self.assign(node.target, value, scope)
                left = self.block(node.body, scope)
                if left is BREAK:
                    return None
                if left is not None and left is not CONTINUE:
                    return left
        except Opaque:
            self.line = node.lineno
            self.skip([node], scope, f"what is in `{ast.unparse(node.iter)}`")
            return None
        return self.block(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> Left:
        while (known := self.condition(node.test, scope)) is True:
            left = self.block(node.body, scope)
            if left is BREAK:
                return None
            if left is not None and left is not CONTINUE:
                return left
        if known is None:
            self.line = node.lineno
            self.skip(node.body, scope, f"whether `{ast.unparse(node.test)}` holds")
            return None
        return self.block(node.orelse, scope)

    def _return(self, node: ast.Return, scope: Scope) -> Left:
        return Signal("return", None if node.value is None else self.evaluate(node.value, scope))

    # -- definitions

    def _class(self, node: ast.ClassDef, scope: Scope) -> Left:
        raise NotImplementedError

    def _import(self, node: ast.Import, scope: Scope) -> Left:
        raise NotImplementedError

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> Left:
        raise NotImplementedError
