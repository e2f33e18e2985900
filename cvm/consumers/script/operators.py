"""Operators on known values, within bounds: nothing grows beyond what a loader script needs."""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING

from cvm.consumers.script.signals import Thrown
from cvm.consumers.script.values import Unknown, VersionInfo, plain, weight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cvm.consumers.script.values import Value

MOST = 1 << 20  # the longest text or list, and the largest count
_BITS = 4096
_CHARACTERS = 10  # of a text stand for an element of a list
_WIDE = re.compile(r"\d{4}")
_WIDE_BRACES = re.compile(r"\{[^{}]*(?:\{|\d{4})")
_WIDE_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #.\d]*(?:\*|\d{4})")

_BINARY: Mapping[type[ast.operator], Callable[..., Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[..., Value]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def pure(function: Callable[..., Value], *arguments: Value, **named: Value) -> Value:
    """Call a function of Python's own; Unknown where an argument is; raises Thrown."""
    if not all(map(plain, arguments)) or not all(map(plain, named.values())):
        return Unknown
    try:
        return bounded(function(*arguments, **named))
    except (MemoryError, RecursionError, OverflowError):
        return Unknown
    except Exception as error:  # noqa: BLE001 - it is the interpreted code's
        raise Thrown(error) from None


def bounded(value: Value) -> Value:
    """Forget a value that is too large to go on with."""
    if isinstance(value, int) and value.bit_length() > _BITS:
        return Unknown
    try:
        return Unknown if len(value) > MOST else value  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return value


def binary(kind: type[ast.operator], left: Value, right: Value) -> Value:
    """Return the value of `left kind right`."""
    function = _BINARY.get(kind)
    if function is None or left is Unknown or right is Unknown:
        return Unknown
    if kind is ast.Add and type(left) is type(right) and isinstance(left, (list, tuple)):
        # What is in a list may well be unknown.
        return bounded(left + right)  # type: ignore[operator]
    if kind in (ast.Mult, ast.Pow, ast.LShift, ast.Mod) and not _small(kind, left, right):
        return Unknown
    return pure(function, left, right)


def _small(kind: type[ast.operator], left: Value, right: Value) -> bool:
    if kind is ast.Mod:
        if not isinstance(left, (str, bytes)):
            return True
        form = _as_text(left)
        return not _WIDE_PERCENT.search(form) and not repeats_too_much(form.count("%"), [right])
    if kind is ast.Mult:
        return _size(left) * _size(right) <= MOST or not (_has_length(left) or _has_length(right))
    return isinstance(right, (int, float)) and abs(right) <= 64


def _size(value: Value) -> int:
    if isinstance(value, int):
        return abs(value)
    return len(value) if isinstance(value, (str, bytes, list, tuple)) else 0


def _has_length(value: Value) -> bool:
    return isinstance(value, (str, bytes, list, tuple))


def _as_text(form: str | bytes) -> str:
    return form if isinstance(form, str) else form.decode("latin-1")


def form_is_small(form: str) -> bool:
    """Whether `str.format` pads to no more than a few digits' worth, and takes no width from a value."""
    return not _WIDE_BRACES.search(form)


def repeats_too_much(times: int, values: Sequence[Value]) -> bool:
    """Whether a text may be too large in which each of the values can stand so many times."""
    return times * sum(weight(one, MOST) for one in values) > MOST // _CHARACTERS


def spec_is_small(form: str) -> bool:
    """Whether what stands behind the colon of an f-string pads to no more than that."""
    return not _WIDE.search(form)


def compare(kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """Return the value of one comparison."""
    if left is Unknown or right is Unknown:
        return Unknown
    if kind in (ast.Is, ast.IsNot):
        return (left is right) is (kind is ast.Is)
    if kind in (ast.In, ast.NotIn):
        found = _holds(right, left)
        return found if found is Unknown or kind is ast.In else not found
    if isinstance(left, VersionInfo) or isinstance(right, VersionInfo):
        return _compare_version(kind, left, right)
    if not plain(left) or not plain(right):
        return _same_thing(kind, left, right)
    return pure(_COMPARE[kind], left, right)


def _same_thing(kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    if kind in (ast.Eq, ast.NotEq) and (isinstance(left, type) or isinstance(right, type) or left is right):
        return (left is right) is (kind is ast.Eq)
    return Unknown


def _holds(container: Value, value: Value) -> Value:
    if isinstance(container, (list, tuple, set, frozenset, dict)):
        if not plain(value):
            return Unknown
        try:
            if value in container:
                return True
        except TypeError as error:
            raise Thrown(error) from None
        return False if all(map(plain, container)) else Unknown
    return pure(operator.contains, container, value)


def _compare_version(kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """Compare `sys.version_info`, where it is longer than what is known of it."""
    if not isinstance(left, VersionInfo):
        swapped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}.get(kind, kind)
        return _compare_version(swapped, right, left)
    if not isinstance(right, tuple) or not plain(right):
        return Unknown
    if right[:2] == (left.major, left.minor) and len(right) > 2:
        return Unknown
    # The third number makes the real one greater than two equal numbers.
    return pure(_COMPARE[kind], (left.major, left.minor, 0), right)
