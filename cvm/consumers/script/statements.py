"""Statements: what they do to names, and what leaves a block."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.expressions import Expressions
from cvm.consumers.script.scope import within
from cvm.consumers.script.signals import BREAK, CONTINUE, Opaque, Signal, Thrown
from cvm.consumers.script.values import (
    Class,
    Decorated,
    Function,
    Instance,
    Known,
    Manager,
    Module,
    Unknown,
    plain,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cvm.consumers.script.scope import Scope
    from cvm.consumers.script.values import Value

    Left = Signal | None


class Statements(Expressions):
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

    # -- names

    def _expression(self, node: ast.Expr, scope: Scope) -> Left:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value, scope)
        return None

    def _assign(self, node: ast.Assign, scope: Scope) -> Left:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)
            if isinstance(target, ast.Name) and isinstance(node.value, (ast.Lambda, ast.Attribute, ast.Name)):
                # Another name for what may load something.
                self.define(target.id, node.value)
        return None

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> Left:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value, scope), scope)
        return None

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> Left:
        target = node.target
        if isinstance(target, ast.Name):
            before = self.lookup(target.id, scope)
        elif isinstance(target, ast.Attribute):
            before = self.attribute(self.evaluate(target.value, scope), target.attr)
        else:
            before = self._subscript(target, scope)
        value = self.evaluate(node.value, scope)
        if isinstance(before, list) and isinstance(node.op, ast.Add):
            try:
                # The list itself grows, whoever else holds it.
                before += [*self.iterate(value)]
            except Opaque:
                before = Unknown
            self.assign(target, before, scope)
        else:
            self.assign(target, self.operated(type(node.op), before, value), scope)
        return None

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a target to a value; raises Thrown where a tuple doesn't fit."""
        if isinstance(target, ast.Name):
            scope.set(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, scope)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.evaluate(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Subscript):
            self.store(self.evaluate(target.value, scope), self.evaluate(target.slice, scope), value)

    def set_attribute(self, holder: Value, name: str, value: Value) -> None:
        """Follow `holder.name = value`."""
        if isinstance(holder, (Module, Instance, Class, Known)):
            holder.names[name] = value

    def _unpack(self, targets: Sequence[ast.expr], value: Value, scope: Scope) -> None:
        stars = [place for place, one in enumerate(targets) if isinstance(one, ast.Starred)]
        try:
            values = list(self.iterate(value))
        except Opaque:
            for one in targets:
                self.assign(one.value if isinstance(one, ast.Starred) else one, Unknown, scope)
            return
        if len(values) < len(targets) - len(stars) or (not stars and len(values) > len(targets)):
            words = "too many values to unpack" if len(values) > len(targets) else "not enough values to unpack"
            raise Thrown(ValueError(f"{words} (expected {len(targets)})"))
        if stars:
            end = len(values) - (len(targets) - stars[0] - 1)
            values[stars[0] : end] = [values[stars[0] : end]]
        for one, each in zip(targets, values, strict=True):
            self.assign(one.value if isinstance(one, ast.Starred) else one, each, scope)

    def _delete(self, node: ast.Delete, scope: Scope) -> Left:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.names.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                holder, key = self.evaluate(target.value, scope), self.evaluate(target.slice, scope)
                if isinstance(holder, (dict, list)) and plain(key):
                    try:
                        del holder[key]  # type: ignore[arg-type]
                    except (LookupError, TypeError) as error:
                        raise Thrown(error) from None
        return None

    def _declare(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> Left:
        scope.declare(node.names, is_global=isinstance(node, ast.Global))
        return None

    # -- branches

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

    # -- exceptions

    def _raise(self, node: ast.Raise, scope: Scope) -> Left:
        if node.exc is None:
            if self.handling:
                raise Thrown(self.handling[-1])
            return None
        error = self.error(self.evaluate(node.exc, scope))
        if node.cause is not None:
            cause = self.evaluate(node.cause, scope)
            error.__cause__ = cause if isinstance(cause, BaseException) else None
        self.raised.append(error)
        raise Thrown(error)

    def error(self, value: Value) -> BaseException:
        """Return the exception that a raised value is."""
        if isinstance(value, type) and issubclass(value, BaseException):
            value = self.call(value, [], {})
        if isinstance(value, BaseException):
            return value
        self.cannot_tell(f"{self.place}: which exception is raised")
        return Exception()

    def _assert(self, node: ast.Assert, scope: Scope) -> Left:
        if self.condition(node.test, scope) is False:
            words = [] if node.msg is None else [self.evaluate(node.msg, scope)]
            self.raised.append(AssertionError(*words))
            raise Thrown(self.raised[-1])
        return None

    def _try(self, node: ast.Try, scope: Scope) -> Left:
        try:
            left = self._caught(node, scope)
        except Thrown:
            ended = self.block(node.finalbody, scope)
            if ended is not None:
                return ended
            raise
        return self.block(node.finalbody, scope) or left

    def _caught(self, node: ast.Try, scope: Scope) -> Left:
        depth = len(self.guards)
        self.guards.append((node.handlers, scope))
        try:
            left = self.block(node.body, scope)
        except Thrown as thrown:
            del self.guards[depth:]
            handler = self._handler(node.handlers, scope, thrown.error)
            if handler is None:
                raise
            return self._handle(handler, thrown.error, scope)
        finally:
            del self.guards[depth:]
        return left or self.block(node.orelse, scope)

    def _handler(
        self, handlers: Sequence[ast.ExceptHandler], scope: Scope, error: BaseException
    ) -> ast.ExceptHandler | None:
        """Return the clause that takes an exception."""
        for one in handlers:
            if self.catches(None if one.type is None else self.evaluate(one.type, scope), error):
                return one
        return None

    def is_caught(self, error: BaseException) -> bool:
        """Whether some code that is running will deal with an exception."""
        return any(self._handler(handlers, scope, error) for handlers, scope in self.guards)

    def catches(self, kinds: Value, error: BaseException) -> bool:
        """Whether a handler for `kinds` (None: for all) takes an exception; an unknown class does."""
        if isinstance(kinds, tuple):
            return any(self.catches(one, error) for one in kinds)
        if kinds is None or not isinstance(kinds, type):
            return True
        return isinstance(error, kinds)

    def _handle(self, handler: ast.ExceptHandler, error: BaseException, scope: Scope) -> Left:
        if handler.name:
            scope.set(handler.name, error)
        self.handling.append(error)
        try:
            return self.block(handler.body, scope)
        except Thrown as thrown:
            if thrown.error is not error and thrown.error.__context__ is None:
                thrown.error.__context__ = error
            raise
        finally:
            self.handling.pop()
            if handler.name:
                scope.names.pop(handler.name, None)

    def _with(self, node: ast.With, scope: Scope) -> Left:
        return self._managed(node.items, node.body, scope)

    def _managed(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt], scope: Scope) -> Left:
        if not items:
            return self.block(body, scope)
        manager = self.evaluate(items[0].context_expr, scope)
        if isinstance(manager, Manager):
            return self._around(manager, items, body, scope)
        self._enter(items[0], self.entered(manager), scope)
        try:
            left = self._managed(items[1:], body, scope)
        except Thrown as thrown:
            if self._suppressed(manager, thrown.error):
                return None
            raise
        self.left(manager, None)
        return left

    def _around(self, manager: Manager, items: Sequence[ast.withitem], body: Sequence[ast.stmt], scope: Scope) -> Left:
        """Run a manager that is a function, and the statements at its `yield`."""
        result: list[Left] = []
        module = self.module

        def inside(value: Value) -> None:
            self.module, within_manager = module, self.module
            try:
                self._enter(items[0], value, scope)
                result.append(self._managed(items[1:], body, scope))
            finally:
                self.module = within_manager

        self.managed(manager, inside)
        return result[0] if result else None

    def _enter(self, item: ast.withitem, value: Value, scope: Scope) -> None:
        if item.optional_vars is not None:
            self.assign(item.optional_vars, value, scope)

    def _suppressed(self, manager: Value, error: BaseException) -> bool:
        if isinstance(manager, Decorated):
            return manager.kind == "suppress" and self.catches(manager.function, error)
        return truth(self.left(manager, error)) is True

    def left(self, manager: Value, error: BaseException | None) -> Value:
        """Return what a context manager makes of leaving it."""
        raise NotImplementedError

    def managed(self, manager: Manager, inside: Callable[[Value], None]) -> None:
        """Run a function that a `with` statement uses, and where it yields what is in that statement."""
        raise NotImplementedError

    def entered(self, manager: Value) -> Value:
        """Return what `with manager as …` binds."""
        raise NotImplementedError

    # -- definitions

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Left:
        self.define(node.name, node)
        value: Value = self.function(node.name, node, scope)
        for decorator in reversed(node.decorator_list):
            value = self.decorated(self.evaluate(decorator, scope), value)
        scope.set(node.name, value)
        return None

    def define(self, name: str, node: ast.AST) -> None:
        """Remember a definition, to know later whether it may load."""
        raise NotImplementedError

    def decorated(self, decorator: Value, function: Value) -> Value:
        """Return what a decorator makes of a function."""
        if decorator is not Unknown:
            return self.call(decorator, [function], {})
        if isinstance(function, Function) and self.may_load(function.node):
            return function
        return Unknown

    def _class(self, node: ast.ClassDef, scope: Scope) -> Left:
        raise NotImplementedError

    def _import(self, node: ast.Import, scope: Scope) -> Left:
        raise NotImplementedError

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> Left:
        raise NotImplementedError
