"""The built-in functions, as far as they are modelled."""

from __future__ import annotations

import ast
import builtins as python
from typing import TYPE_CHECKING

from cvm.consumers.script.operators import MOST, pure
from cvm.consumers.script.signals import Opaque, Thrown
from cvm.consumers.script.values import (
    Class,
    Decorated,
    Instance,
    Module,
    Native,
    PosixPath,
    Unknown,
    plain,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.script.imports import Imports
    from cvm.consumers.script.values import Value

_PURE = (abs, all, any, ascii, bin, chr, divmod, hash, hex, len, max, min, oct, ord, repr, round)
_TYPES = (bool, bytes, dict, float, frozenset, int, list, object, set, str, tuple, type)
_MISSING = object()


def builtins(run: Imports) -> dict[str, Value]:
    """Return the built-in names."""
    names: dict[str, Value] = {
        name: value
        for name, value in vars(python).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    names.update({one.__name__: one for one in _TYPES})
    functions = _Functions(run)
    for one in _PURE:
        names[one.__name__] = Native(one.__name__, functions.listed(one))
    for name in vars(_Functions):
        if name.startswith("do_"):
            names[name[3:]] = Native(name[3:], getattr(functions, name))
    names.update({"super": Native("super", lambda *_: Unknown), "__debug__": True})
    for kind in ("property", "staticmethod", "classmethod"):
        names[kind] = Native(kind, _decorator(kind))
    return names


def _decorator(kind: str) -> Callable[[list[Value], dict[str, Value]], Value]:
    return lambda arguments, _: Decorated(kind, arguments[0]) if arguments else Unknown


class _Functions:
    """The functions that look at stand-ins or call interpreted code."""

    def __init__(self, run: Imports) -> None:
        self.run = run

    def listed(self, function: Callable[..., Value]) -> Callable[[list[Value], dict[str, Value]], Value]:
        def call(arguments: list[Value], named: dict[str, Value]) -> Value:
            if function in (any, all) and len(arguments) == 1:
                return self._any_or_all(arguments[0], stops=function is any)
            arguments = [self.run.listed(one) for one in arguments]
            if function in (max, min) and "key" in named:
                ordered = self.do_sorted(arguments[:1], {**named, "reverse": function is max})
                return ordered[0] if isinstance(ordered, list) and ordered else Unknown
            if function is len and isinstance(arguments[0], (list, tuple, dict)):
                vague = isinstance(arguments[0], dict) and Unknown in arguments[0]
                return Unknown if vague else len(arguments[0])
            return pure(function, *arguments, **named)

        return call

    def _any_or_all(self, values: Value, *, stops: bool) -> Value:
        unknown = False
        try:
            for one in self.run.iterate(values):
                known = truth(one)
                if known is stops:
                    return stops
                unknown = unknown or known is None
        except Opaque:
            unknown = True
        return Unknown if unknown else not stops

    def do_print(self, _: list[Value], __: dict[str, Value]) -> Value:
        return None

    def do_isinstance(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        value, kinds = arguments
        return self._is_a(value, kinds if isinstance(kinds, tuple) else (kinds,))

    def _is_a(self, value: Value, kinds: tuple[Value, ...]) -> Value:
        if value is Unknown or Unknown in kinds:
            return Unknown
        if isinstance(value, Instance):
            return any(_derives(value.owner, kind) for kind in kinds) or (Unknown if value.owner.open else False)
        types = tuple(one for one in kinds if isinstance(one, type))
        return isinstance(value, types) if plain(value) or len(types) == len(kinds) else Unknown

    def do_callable(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        value = arguments[0]
        if value is Unknown or isinstance(value, Instance):
            return Unknown
        return not plain(value) and not isinstance(value, Module)

    def do_hasattr(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        value, name = arguments
        if isinstance(name, str) and isinstance(value, Instance) and not value.owner.open:
            return name in value.names or value.owner.find(name) is not None
        if isinstance(name, str) and isinstance(value, Module) and value.complete and not value.open:
            return name in value.names
        try:
            found = self.run.attribute(value, name) if isinstance(name, str) else Unknown
        except Thrown:
            return False
        return Unknown if found is Unknown else True

    def do_getattr(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        value, name, *default = arguments
        if not isinstance(name, str):
            return Unknown
        if default and self.do_hasattr([value, name], {}) is False:
            return default[0]
        return self.run.attribute(value, name)

    def do_setattr(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        if len(arguments) == 3 and isinstance(arguments[1], str):
            self.run.set_attribute(arguments[0], arguments[1], arguments[2])
        return None

    def do_globals(self, _: list[Value], __: dict[str, Value]) -> Value:
        return self.run.module.names if self.run.module else Unknown

    def do_open(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        return self.run.open_file(arguments, named)

    def do_range(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        found = pure(range, *arguments)
        return found if isinstance(found, range) and len(found) <= MOST else Unknown

    def do_next(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        value, *default = arguments
        if not hasattr(value, "__next__"):
            return Unknown
        found: Value = _MISSING
        try:
            found = next(value, _MISSING)
        except Opaque:
            return Unknown
        if found is not _MISSING:
            return found
        if default:
            return default[0]
        raise Thrown(StopIteration())

    def do_iter(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        return self._each(arguments, lambda one: one)

    def do_enumerate(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        start = named.get("start", arguments[1] if len(arguments) > 1 else 0)
        return self._each(arguments[:1], lambda one: list(enumerate(one, start if isinstance(start, int) else 0)))

    def do_reversed(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        return self._each(arguments, lambda one: one[::-1])

    def do_zip(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        return self._each(arguments, lambda *some: list(zip(*some, strict=False)))

    def do_map(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        function, *rest = arguments
        return self._each(
            rest, lambda *some: [self.run.call(function, list(one), {}) for one in zip(*some, strict=False)]
        )

    def do_filter(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        function, values = arguments
        return self._each([values], lambda some: [one for one in some if self._keeps(function, one)])

    def _keeps(self, function: Value, value: Value) -> bool:
        known = truth(value if function is None else self.run.call(function, [value], {}))
        if known is None:
            raise Opaque
        return known

    def do_sorted(self, arguments: list[Value], named: dict[str, Value]) -> Value:
        try:
            values = list(self.run.iterate(arguments[0]))
        except Opaque:
            return Unknown
        key = named.get("key")
        keys = values if key is None else [self.run.call(key, [one], {}) for one in values]
        descending = truth(named.get("reverse", False))
        if not all(map(plain, keys)) or descending is None:
            return Unknown
        order = pure(lambda: sorted(range(len(keys)), key=keys.__getitem__, reverse=descending))  # type: ignore[arg-type]
        return [values[place] for place in order] if isinstance(order, list) else Unknown

    def _each(self, arguments: list[Value], make: Callable[..., list[Value]]) -> Value:
        try:
            return iter(make(*(list(self.run.iterate(one)) for one in arguments)))
        except Opaque:
            return Unknown

    def do_vars(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        value = arguments[0] if arguments else Unknown
        return value.names if isinstance(value, (Module, Instance, Class)) else Unknown

    def do_sum(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        total: Value = arguments[1] if len(arguments) > 1 else 0
        try:
            for one in self.run.iterate(arguments[0]):
                self.run.spend()
                total = self.run.operated(ast.Add, total, one)
        except Opaque:
            return Unknown
        return total

    def do___import__(self, arguments: list[Value], _: dict[str, Value]) -> Value:
        name = arguments[0] if arguments else Unknown
        if not isinstance(name, str):
            return Unknown
        self.run.load_module(name)
        return self.run.load_module(name.partition(".")[0])


def _derives(kind: Class, other: Value) -> bool:
    return any(one is other for one in kind.line)


def path_text(value: Value) -> Value:
    """Return a path as text, as `os.fspath` does."""
    return str(value) if isinstance(value, PosixPath) else value
