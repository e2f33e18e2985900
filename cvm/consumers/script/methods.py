"""Methods of Python's own values that interpreted code may call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.script.operators import MOST, form_is_small, pure, repeats_too_much
from cvm.consumers.script.signals import Thrown
from cvm.consumers.script.values import Unknown, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cvm.consumers.script.values import Value

_TEXT = frozenset(
    [
        "capitalize",
        "casefold",
        "center",
        "count",
        "decode",
        "encode",
        "endswith",
        "expandtabs",
        "find",
        "format",
        "index",
        "isalnum",
        "isalpha",
        "isascii",
        "isdecimal",
        "isdigit",
        "isidentifier",
        "islower",
        "isnumeric",
        "isspace",
        "istitle",
        "isupper",
        "join",
        "ljust",
        "lower",
        "lstrip",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rindex",
        "rjust",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "swapcase",
        "title",
        "upper",
        "zfill",
    ]
)
_NUMBER = frozenset({"bit_length", "is_integer"})
_PURE: Mapping[type, frozenset[str]] = {
    str: _TEXT,
    bytes: _TEXT - {"format", "encode", "casefold", "isidentifier", "isdecimal", "isnumeric"},
    int: _NUMBER,
    float: _NUMBER,
    tuple: frozenset({"count", "index"}),
    list: frozenset({"count", "index", "remove"}),
    set: frozenset({"remove", "issubset", "issuperset", "isdisjoint"}),
    frozenset: frozenset({"issubset", "issuperset", "isdisjoint", "union", "intersection", "difference", "copy"}),
}
# These move values that may well be unknown.
_MOVING: Mapping[type, frozenset[str]] = {
    list: frozenset({"append", "insert", "pop", "reverse", "copy", "clear"}),
    dict: frozenset({"get", "keys", "values", "items", "pop", "popitem", "setdefault", "copy", "clear"}),
    set: frozenset({"add", "discard", "pop", "copy", "clear", "union", "intersection", "difference", "update"}),
}
_ATTRIBUTES = frozenset({"args", "errno", "strerror", "filename", "name", "path", "msg", "__cause__", "__context__"})
# Those that take time in proportion.
_CODECS = frozenset({"utf-8", "utf8", "ascii", "latin-1", "latin1", "utf-16", "utf-32"})
_PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs"})


def has_method(value: Value, name: str) -> bool:
    """Whether a value has a method that is modelled."""
    kind = type(value)
    return name in _PURE.get(kind, ()) or name in _MOVING.get(kind, ())


def looks_through(value: Value, name: str) -> bool:
    """Whether a method may look at all of its value, rather than at one element."""
    return name in _PURE.get(type(value), ())


def call_method(value: Value, name: str, arguments: list[Value], named: dict[str, Value]) -> Value:
    """Call a method of one of Python's own values; raises Thrown."""
    method = getattr(value, name)
    if name in _MOVING.get(type(value), ()):
        return _move(value, name, arguments, named)
    if name in _PURE[type(value)] and _grows(value, name, arguments):
        return Unknown
    return pure(method, *arguments, **named) if plain(value) else Unknown


def error_attribute(error: BaseException, name: str) -> Value:
    """Return an attribute of an exception."""
    if name == "args":
        return error.args
    return getattr(error, name, Unknown) if name in _ATTRIBUTES else Unknown


def _move(value: Value, name: str, arguments: list[Value], named: dict[str, Value]) -> Value:
    if named or (isinstance(value, (dict, set)) and arguments and arguments[0] is Unknown):
        return Unknown
    if isinstance(value, (list, dict, set)) and (len(value) >= MOST or (arguments and _vague(value, arguments[0]))):
        return Unknown
    if name == "insert" and arguments[:1] == [Unknown]:
        return Unknown
    try:
        result: Value = getattr(value, name)(*arguments)
    except Exception as error:  # noqa: BLE001 - it is the interpreted code's
        raise Thrown(error) from None
    return result


def _vague(value: Value, key: Value) -> bool:
    """Whether a dictionary may or may not have a key."""
    return isinstance(value, dict) and Unknown in value and plain(key) and key not in value


def _grows(value: Value, name: str, arguments: list[Value]) -> bool:
    """Whether a result could be too large to be made."""
    if name in _PADDING:
        times = _length(value) if name == "expandtabs" else 1
        return any(isinstance(one, int) and one * times > MOST for one in arguments)
    if name == "format" and isinstance(value, str):
        return not form_is_small(value) or repeats_too_much(value.count("{"), arguments)
    if name == "join":
        parts = arguments[0] if arguments and plain(arguments[0]) else ()
        return sum(map(_length, _each(parts))) + _length(parts) * _length(value) > MOST
    if name == "replace":
        return (_length(value) + 1) * max(map(_length, arguments), default=0) > MOST
    if name in ("encode", "decode"):
        return any(str(one).lower() not in _CODECS for one in arguments[:1])
    return False


def _each(parts: Value) -> Iterable[Value]:
    return parts if isinstance(parts, (str, bytes, list, tuple, dict, set, frozenset)) else ()


def _length(value: Value) -> int:
    try:
        return len(value)  # type: ignore[arg-type]
    except TypeError:
        return 0
