"""Conversions: calls of Python's own classes, such as `list(x)`, `type(x)` and `OSError(x)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.attributes import Attributes
from cvm.consumers.script.operators import MOST, pure
from cvm.consumers.script.signals import Opaque
from cvm.consumers.script.values import (
    Instance,
    PosixPath,
    Unknown,
    plain,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.script.values import Value

_TYPES = (str, int, float, bool, list, dict, tuple, set, frozenset, bytes, object, type)


class Conversions(Attributes):
    """Calls of Python's own classes."""

    def __init__(self) -> None:
        super().__init__()
        self._makers: dict[type, Callable[[Value], Value]] = {
            type: self.kind_of,
            list: self._elements_of,
            tuple: self._tuple_of,
            bool: self.truth_of,
        }

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
