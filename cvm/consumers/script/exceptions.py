"""Exceptions: what raises them, what catches them, and the context managers that see them pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.assignments import Assignments
from cvm.consumers.script.signals import Signal, Thrown
from cvm.consumers.script.values import (
    Decorated,
    Manager,
    truth,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    from cvm.consumers.script.scope import Scope
    from cvm.consumers.script.values import Value

    Left = Signal | None


class Exceptions(Assignments):
    """The statements `raise`, `assert`, `try` and `with`."""

    # -- raising and catching

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

    # -- context managers

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
