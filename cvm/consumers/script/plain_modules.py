"""Small parts of the standard library that scripts use on their way to a load."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from cvm.consumers.script.operators import pure
from cvm.consumers.script.values import Decorated, Function, Native, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.script.interpreter import Interpreter
    from cvm.consumers.script.values import Value


def plain_modules(run: Interpreter) -> Mapping[str, dict[str, Value]]:
    """Return the names of a few modules."""
    same = Native("same", lambda arguments, _: arguments[0])
    return {
        "builtins": run.builtins,
        "typing": {"TYPE_CHECKING": False, "cast": Native("cast", lambda arguments, _: arguments[1]), "overload": same},
        "typing_extensions": {"TYPE_CHECKING": False},
        "textwrap": {
            "dedent": Native("dedent", lambda arguments, _: pure(textwrap.dedent, arguments[0])),
        },
        "warnings": {
            "warn": Native("warn", lambda *_: None),
            "filterwarnings": Native("filterwarnings", lambda *_: None),
        },
        "contextlib": {
            "suppress": Native("suppress", lambda arguments, _: Decorated("suppress", tuple(arguments))),
            "contextmanager": Native("contextmanager", lambda arguments, _: Decorated("contextmanager", arguments[0])),
        },
        "functools": {
            "lru_cache": Native("lru_cache", lambda arguments, _: _cached(arguments)),
            "cache": same,
            "wraps": Native("wraps", lambda arguments, _: _named_like(arguments[0])),
            "cached_property": Native("cached_property", lambda arguments, _: Decorated("property", arguments[0])),
            "partial": Unknown,
        },
        "sysconfig": {"get_config_var": Native("get_config_var", lambda *_: Unknown)},
    }


def _cached(arguments: list[Value]) -> Value:
    """Follow `lru_cache`, with and without brackets."""
    if arguments and isinstance(arguments[0], Function):
        return arguments[0]
    return Native("cached", lambda inner, _: inner[0])


def _named_like(wrapped: Value) -> Value:
    """Follow `wraps`: what it decorates gets the name of what that wraps."""

    def rename(arguments: list[Value], _: dict[str, Value]) -> Value:
        function = arguments[0]
        if isinstance(function, Function) and isinstance(wrapped, Function):
            return replace(function, name=wrapped.name)
        return function

    return Native("rename", rename)
