"""Expressions: their values, or Unknown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.displays import Displays
from cvm.consumers.script.operators import binary, compare
from cvm.consumers.script.signals import Opaque
from cvm.consumers.script.values import Function, Known, PosixPath, Unknown, plain, truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.script.scope import Scope
    from cvm.consumers.script.values import Value


class Expressions(Displays):
    """The evaluation of expressions."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[type[ast.expr], Callable[..., Value]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.BoolOp: self._boolean,
            ast.Compare: self._compare,
            ast.IfExp: self._choice,
            ast.JoinedStr: self._joined,
            ast.FormattedValue: self._formatted,
            ast.List: self._list,
            ast.Tuple: self._tuple,
            ast.Set: self._set,
            ast.Dict: self._dict,
            ast.Subscript: self._subscript,
            ast.Slice: self._slice,
            ast.Lambda: self._lambda,
            ast.ListComp: self._list_of,
            ast.SetComp: self._set_of,
            ast.DictComp: self._dict_of,
            ast.GeneratorExp: self._generator,
            ast.NamedExpr: self._walrus,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
        }

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression; raises Thrown, Exhausted."""
        self.spend()
        kind = self._kinds.get(type(node))
        return Unknown if kind is None else kind(node, scope)

    # -- names and calls

    def _constant(self, node: ast.Constant, _: Scope) -> Value:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        return self.lookup(node.id, scope)

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.evaluate(node.func, scope)
        if function is self.builtins.get("super") and not node.args:
            return self.parent(scope)
        arguments = self._elements(node.args, scope)
        named: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                named.update(value)
            else:
                arguments = None
        if arguments is None:
            return self.unknown_call(function, node)
        self.line = node.lineno
        return self.call(function, arguments, named)

    def unknown_call(self, function: Value, node: ast.Call) -> Value:
        """Note a call whose arguments can't be told, where it may load."""
        if self.may_load(node.func) or function is Unknown:
            return Unknown if function is Unknown else self._unclear()
        return Unknown

    def _unclear(self) -> Value:
        self.cannot_tell(f"{self.place}: a call with arguments that only a run would tell")
        return Unknown

    def parent(self, scope: Scope) -> Value:
        """Return what `super()` is in a scope."""
        raise NotImplementedError

    # -- operators

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        if isinstance(node.op, ast.Div) and isinstance(left, PosixPath) and isinstance(right, (str, PosixPath)):
            return left / right
        if isinstance(node.op, ast.Mod) and isinstance(left, str) and not plain(right):
            return Unknown
        return self.operated(type(node.op), left, right)

    def operated(self, kind: type[ast.operator], left: Value, right: Value) -> Value:
        """Return the value of `left kind right`."""
        self.charge(left, right)
        result = binary(kind, left, right)
        self.charge(result)
        return result

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return Unknown if known is None else not known
        if isinstance(value, (int, float)):
            if isinstance(node.op, ast.USub):
                return -value
            return ~value if isinstance(node.op, ast.Invert) and isinstance(value, int) else value
        return Unknown

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        """Follow `and` and `or`: one operand may decide though another is unknown."""
        stops = isinstance(node.op, ast.Or)
        seen: Value = None
        for place, part in enumerate(node.values):
            if seen is Unknown and self.may_load(part):
                return Unknown
            value = self.evaluate(part, scope)
            known = truth(value)
            if known is stops or (known is not None and place == len(node.values) - 1 and seen is not Unknown):
                return value
            if known is None:
                seen = Unknown
        return Unknown

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left, result = self.evaluate(node.left, scope), True
        unknown = False
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(part, scope)
            known = truth(self._holds(kind, left, right))
            if known is False:
                return False
            unknown = unknown or known is None
            left = right
        return Unknown if unknown else result

    def _holds(self, kind: ast.cmpop, left: Value, right: Value) -> Value:
        """Return the value of one comparison; for `in`, an iterator is used up and a stand-in asked."""
        if isinstance(kind, (ast.In, ast.NotIn)):
            if isinstance(right, Known):
                found = truth(self.call(right.names.get("__contains__", Unknown), [left], {}))
                return Unknown if found is None else found is isinstance(kind, ast.In)
            right = self.listed(right)
        self.charge(left, right)
        return compare(type(kind), left, right)

    def listed(self, value: Value) -> Value:
        """Return an iterator's elements as a list; any other value as it is."""
        if not hasattr(value, "__next__"):
            return value
        try:
            return list(self.iterate(value))
        except Opaque:
            return Unknown

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        known = self.condition(node.test, scope)
        if known is None:
            if self.may_load(node.body, node.orelse):
                self.line = node.lineno
                self.cannot_tell(f"{self.place}: whether `{ast.unparse(node.test)}` holds")
                return self.evaluate(node.body if self.may_load(node.body) else node.orelse, scope)
            return Unknown
        return self.evaluate(node.body if known else node.orelse, scope)

    # -- functions

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return self.function("<lambda>", node, scope)

    def function(self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> Function:
        """Return the function that a definition makes."""
        defaults = tuple(self.evaluate(one, scope) for one in node.args.defaults)
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        named = {one.arg: self.evaluate(value, scope) for one, value in pairs if value is not None}
        return Function(name, node, scope, defaults, named)

    def _yield(self, node: ast.Yield, scope: Scope) -> Value:
        value = None if node.value is None else self.evaluate(node.value, scope)
        if scope.at_yield is not None:
            scope.at_yield(value)
        elif scope.yields is not None:
            scope.yields.append(value)
        return Unknown

    def _yield_from(self, node: ast.YieldFrom, scope: Scope) -> Value:
        try:
            if scope.yields is not None:
                scope.yields += self.iterate(self.evaluate(node.value, scope))
        except Opaque:
            scope.yields = None
        return Unknown
