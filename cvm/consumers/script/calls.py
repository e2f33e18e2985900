"""Calls: functions and classes of the interpreted code, and what is modelled."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from cvm.consumers.script.arguments import bind, own_names
from cvm.consumers.script.conversions import Conversions
from cvm.consumers.script.scope import Scope
from cvm.consumers.script.signals import Opaque, Thrown, Way
from cvm.consumers.script.values import (
    Bound,
    Class,
    Decorated,
    Function,
    Instance,
    Manager,
    Native,
    Parent,
    Unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.script.signals import Signal
    from cvm.consumers.script.values import Value

_LONGEST_LINE = 50


class Calls(Conversions):
    """Calls of functions and classes."""

    def __init__(self) -> None:
        super().__init__()
        self._bound: dict[ast.AST, tuple[frozenset[str], bool]] = {}
        self._callers: dict[type, Callable[..., Value]] = {
            Native: _native,
            Bound: self._call_bound,
            Function: self.invoke,
            Class: self._instance,
            Decorated: self._call_decorated,
            Instance: self._call_instance,
        }

    # -- calls

    def call(self, function: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call a value; Unknown where it isn't known what that does; raises Thrown, Exhausted."""
        self.spend()
        self.charge(*arguments, *named.values())
        result = self._called(function, arguments, named)
        self.charge(result)
        return result

    def _called(self, function: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        caller = self._callers.get(type(function))
        if caller is not None:
            return caller(function, arguments, named)
        return self._convert(function, arguments, named) if isinstance(function, type) else Unknown

    def _call_bound(self, function: Bound, arguments: list[Value], named: dict[str, Value]) -> Value:
        return self.call(function.function, [function.first, *arguments], named)

    def _call_decorated(self, function: Decorated, arguments: list[Value], named: dict[str, Value]) -> Value:
        if function.kind == "contextmanager":
            return Manager(function.function, tuple(arguments), named)
        return Unknown

    def _call_instance(self, function: Instance, arguments: list[Value], named: dict[str, Value]) -> Value:
        method = function.owner.find("__call__")
        return Unknown if method is None else self.call(method, [function, *arguments], named)

    def invoke(
        self,
        function: Function,
        arguments: list[Value],
        named: dict[str, Value],
        at_yield: Callable[[Value], None] | None = None,
    ) -> Value:
        """Run a function of the interpreted code; `at_yield` is what a context manager is for."""
        scope = self._frame(function, arguments, named)
        scope.at_yield = at_yield
        before = self.module, self.line
        self.enter()
        self.frames.append(scope)
        try:
            self.module = scope.module
            return self._body(function.node, scope)
        except Thrown as thrown:
            if self.may_load(function.node):
                self.ground(thrown.error)
            raise
        finally:
            self.depth -= 1
            self.frames.pop()
            self.module, self.line = before

    def _body(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> Value:
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body, scope)
        if self._bound[node][1] and scope.at_yield is None:
            return self._generated(node, scope)
        return _returned(self.block(node.body, scope), scope)

    def managed(self, manager: Manager, inside: Callable[[Value], None]) -> None:
        """Run a function that a `with` statement uses, and where it yields what is in that statement."""
        if isinstance(manager.function, Function):
            self.invoke(manager.function, list(manager.arguments), dict(manager.named), inside)
        else:
            inside(Unknown)

    def _generated(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Value:
        """Run a generator to its end at once; what it gives is kept."""
        scope.yields = []
        self.block(node.body, scope)
        return Unknown if scope.yields is None or scope.doubt else iter(scope.yields)

    def _frame(self, function: Function, arguments: list[Value], named: dict[str, Value]) -> Scope:
        node = function.node
        if node not in self._bound:
            self._bound[node] = own_names(node)
        names = bind(function, arguments, dict(named))
        scope = Scope(function.scope.module, names, function.scope, self._bound[node][0])
        scope.owner = function.owner
        return scope

    # -- classes

    def _class(self, node: ast.ClassDef, scope: Scope) -> Signal | None:
        self.define(node.name, node)
        bases = [self.evaluate(one, scope) for one in node.bases]
        inner = Scope(scope.module, {}, scope)
        inner.is_class = True
        self.block(node.body, inner)
        own = [base for base in bases if isinstance(base, type) and base is not object]
        if own and issubclass(own[0], BaseException):
            made: Value = _exception_class(node.name, scope.module.name, own[0])
        else:
            known = tuple(base for base in bases if isinstance(base, Class))
            others = [base for base in bases if base is not object and not isinstance(base, Class)]
            made = Class(node.name, known, inner.names, is_open=bool(others or node.keywords))
            _own_functions(made)
        for decorator in node.decorator_list:
            # A class that a decorator changes, such as a dataclass, has attributes that its text doesn't have.
            self.evaluate(decorator, scope)
            if isinstance(made, Class):
                made.open = True
        scope.set(node.name, made)
        return None

    def _instance(self, owner: Class, arguments: list[Value], named: dict[str, Value]) -> Value:
        made = Instance(owner)
        start = owner.find("__init__")
        if isinstance(start, Function):
            self.invoke(start, [made, *arguments], named)
        return made

    def parent(self, scope: Scope) -> Value:
        """Return what `super()` is in a method."""
        if scope.owner is None:
            return Unknown
        first = next(iter(scope.names.values()), Unknown)
        return Parent(scope.owner, first)


def _native(function: Native, arguments: list[Value], named: dict[str, Value]) -> Value:
    """Call what is modelled; a call in a way that isn't modelled gives Unknown."""
    try:
        return function.call(arguments, named)
    except Opaque:
        return Unknown
    except (Way, RecursionError):
        raise
    except Exception:  # noqa: BLE001 - the code under examination decides what is passed
        return Unknown


def _returned(left: Signal | None, scope: Scope) -> Value:
    if scope.doubt:
        return Unknown
    return None if left is None else left.value


def _exception_class(name: str, module: str, base: type[BaseException]) -> type:
    # Python takes time for every base of a base.
    return base if len(base.__mro__) > _LONGEST_LINE else type(name, (base,), {"__module__": module})


def _own_functions(made: Class) -> None:
    """Tell the functions of a class whose they are, for `super`."""
    for name, value in made.names.items():
        if isinstance(value, Function):
            made.names[name] = replace(value, owner=made)
