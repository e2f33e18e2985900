"""Assignments: what binds a name, an attribute or a key, and what takes it away."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.expressions import Expressions
from cvm.consumers.script.signals import Opaque, Signal, Thrown
from cvm.consumers.script.values import (
    Class,
    Function,
    Instance,
    Known,
    Module,
    Unknown,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.consumers.script.scope import Scope
    from cvm.consumers.script.values import Value

    Left = Signal | None


class Assignments(Expressions):
    """The statements that bind and unbind names."""

    # -- names

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
