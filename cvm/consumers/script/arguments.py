"""Arguments: how a call's become a function's names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.scope import assigned, within
from cvm.consumers.script.signals import Thrown

if TYPE_CHECKING:
    from cvm.consumers.script.values import Function, Value


def bind(function: Function, arguments: list[Value], named: dict[str, Value]) -> dict[str, Value]:
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


def own_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> tuple[frozenset[str], bool]:
    """Return the names that a function binds as its locals, and whether it is a generator."""
    body: list[ast.stmt] = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
    outside = {name for one in within(body) if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    yields = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in within(body))
    return assigned(body) - outside, yields
