"""Calls: functions and classes of the interpreted code, and Python's own as far as they are modelled."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from cvm.consumers.script.attributes import Attributes
from cvm.consumers.script.operators import MOST, pure
from cvm.consumers.script.scope import Scope, assigned, within
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
    PosixPath,
    Unknown,
    plain,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.script.signals import Signal
    from cvm.consumers.script.values import Value

_LONGEST_LINE = 50
_TYPES = (str, int, float, bool, list, dict, tuple, set, frozenset, bytes, object, type)


class Calls(Attributes):
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
        self._makers: dict[type, Callable[[Value], Value]] = {
            type: self.kind_of,
            list: self._elements_of,
            tuple: self._tuple_of,
            bool: self.truth_of,
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
            body: list[ast.stmt] = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
            outside = {
                name for one in within(body) if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names
            }
            yields = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in within(body))
            self._bound[node] = assigned(body) - outside, yields
        names = self._parameters(function, arguments, dict(named))
        scope = Scope(function.scope.module, names, function.scope, self._bound[node][0])
        scope.owner = function.owner
        return scope

    def _parameters(self, function: Function, arguments: list[Value], named: dict[str, Value]) -> dict[str, Value]:
        """Bind arguments to parameters; raises Thrown where one is missing or too much."""
        spec = function.node.args
        parameters = [one.arg for one in (*spec.posonlyargs, *spec.args)]
        names: dict[str, Value] = dict(zip(parameters, arguments, strict=False))
        if spec.vararg:
            names[spec.vararg.arg] = tuple(arguments[len(parameters) :])
        elif len(arguments) > len(parameters):
            raise Thrown(TypeError(f"{function.name}() takes {len(parameters)} positional arguments"))
        optional = parameters[len(parameters) - len(function.defaults) :] if function.defaults else []
        defaults = {**dict(zip(optional, function.defaults, strict=True)), **function.named_defaults}
        for name in (*parameters, *(one.arg for one in spec.kwonlyargs)):
            if name in named:
                names[name] = named.pop(name)
            elif name not in names:
                if name not in defaults:
                    raise Thrown(TypeError(f"{function.name}() missing required argument: '{name}'"))
                names[name] = defaults[name]
        if spec.kwarg:
            names[spec.kwarg.arg] = named
        elif named:
            raise Thrown(TypeError(f"{function.name}() got an unexpected keyword argument '{next(iter(named))}'"))
        return names

    def _convert(self, kind: type, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call a class of Python's own."""
        if issubclass(kind, BaseException):
            return self._exception(kind, arguments)
        way = self._makers.get(kind)
        if way is not None and len(arguments) == 1 and not named:
            return way(arguments[0])
        arguments = [self.listed(one) for one in arguments]
        if kind is PosixPath:
            return self._path(arguments)
        if kind is dict and all(isinstance(one, dict) for one in arguments):
            return {key: value for one in (*arguments, named) if isinstance(one, dict) for key, value in one.items()}
        sizes = [one for one in arguments if isinstance(one, int)]
        if kind not in _TYPES or (kind is bytes and any(one > MOST for one in sizes)):
            return Unknown
        return pure(kind, *arguments, **named)

    def _elements_of(self, value: Value) -> Value:
        try:
            return list(self.iterate(value))
        except Opaque:
            return Unknown

    def _tuple_of(self, value: Value) -> Value:
        values = self._elements_of(value)
        return tuple(values) if isinstance(values, list) else Unknown

    def truth_of(self, value: Value) -> Value:
        """Return what `bool` gives."""
        known = truth(value)
        return Unknown if known is None else known

    def _exception(self, kind: type[BaseException], arguments: list[Value]) -> BaseException:
        try:
            return kind(*arguments)
        except TypeError:
            error = kind.__new__(kind)
            error.args = tuple(arguments)
            return error

    def _path(self, arguments: list[Value]) -> Value:
        if all(isinstance(one, (str, PosixPath)) for one in arguments):
            return pure(PosixPath, *arguments)
        return Unknown

    def kind_of(self, value: Value) -> Value:
        """Return the class of a value."""
        if isinstance(value, Instance):
            return value.owner
        return type(value) if plain(value) else Unknown

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
