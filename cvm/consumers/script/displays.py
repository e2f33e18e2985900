"""Displays: texts, lists, dictionaries and the like, written out or by a comprehension, and what is in them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.core import Core
from cvm.consumers.script.operators import bounded, pure, spec_is_small
from cvm.consumers.script.scope import Scope
from cvm.consumers.script.signals import Opaque, Thrown
from cvm.consumers.script.values import Unknown, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cvm.consumers.script.values import Value


class Displays(Core):
    """The expressions that make texts and collections, and take them apart."""

    # -- texts

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts = [self.evaluate(part, scope) for part in node.values]
        if not all(isinstance(part, str) for part in parts):
            return Unknown
        self.charge(*parts)
        return bounded("".join(part for part in parts if isinstance(part, str)))

    def _formatted(self, node: ast.FormattedValue, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        form = self.evaluate(node.format_spec, scope) if node.format_spec else ""
        self.charge(value)
        if not plain(value) or not isinstance(form, str) or not spec_is_small(form):
            return Unknown
        return pure(format, _converted(value, node.conversion), form)

    # -- collections

    def _elements(self, nodes: Sequence[ast.expr], scope: Scope) -> list[Value] | None:
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                try:
                    found += self.iterate(self.evaluate(node.value, scope))
                except Opaque:
                    return None
            else:
                found.append(self.evaluate(node, scope))
        self.charge(found)
        return found

    def _list(self, node: ast.List, scope: Scope) -> Value:
        found = self._elements(node.elts, scope)
        return Unknown if found is None else found

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        found = self._elements(node.elts, scope)
        return Unknown if found is None else tuple(found)

    def _set(self, node: ast.Set, scope: Scope) -> Value:
        found = self._elements(node.elts, scope)
        return Unknown if found is None else pure(set, found)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            known = self.evaluate(value, scope)
            if key is None:
                if not isinstance(known, dict):
                    return Unknown
                found.update(known)
                continue
            self.store(found, self.evaluate(key, scope), known)
        return found

    def store(self, container: Value, key: Value, value: Value) -> None:
        """Follow `container[key] = value`; an unknown key stands for any that the container may have by now."""
        self.charge(key, value)
        if not plain(key):
            key = value = Unknown
        if isinstance(container, dict) or (isinstance(container, list) and key is not Unknown):
            try:
                container[key] = value  # type: ignore[call-overload]
            except (LookupError, TypeError, ValueError) as error:
                raise Thrown(error) from None

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        value, key = self.evaluate(node.value, scope), self.evaluate(node.slice, scope)
        self.charge(key)
        if key is Unknown or not isinstance(value, (str, bytes, list, tuple, dict, range)):
            return self.subscript(value, key)
        if not plain(key) or (isinstance(value, dict) and Unknown in value and key not in value):
            return Unknown
        found = pure(lambda: value[key])  # type: ignore[index, call-overload]
        if isinstance(key, slice):
            self.charge(found)
        return found

    def subscript(self, value: Value, key: Value) -> Value:
        """Return the value of a subscript that isn't Python's own."""
        raise NotImplementedError

    def _slice(self, node: ast.Slice, scope: Scope) -> Value:
        parts = [None if part is None else self.evaluate(part, scope) for part in (node.lower, node.upper, node.step)]
        self.charge(*parts)
        return slice(*parts) if all(map(plain, parts)) else Unknown

    # -- comprehensions

    def _list_of(self, node: ast.ListComp, scope: Scope) -> Value:
        try:
            return [self.evaluate(node.elt, one) for one in self._each(node.generators, scope)]
        except Opaque:
            return Unknown

    def _set_of(self, node: ast.SetComp, scope: Scope) -> Value:
        try:
            return pure(set, [self.evaluate(node.elt, one) for one in self._each(node.generators, scope)])
        except Opaque:
            return Unknown

    def _dict_of(self, node: ast.DictComp, scope: Scope) -> Value:
        found: dict[Value, Value] = {}
        try:
            for one in self._each(node.generators, scope):
                self.store(found, self.evaluate(node.key, one), self.evaluate(node.value, one))
        except Opaque:
            return Unknown
        return found

    def _generator(self, node: ast.GeneratorExp, scope: Scope) -> Value:
        return (self.evaluate(node.elt, one) for one in self._each(node.generators, scope))

    def _each(self, generators: Sequence[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        """Yield a scope for each turn; raises Opaque where something unknown decides how many there are."""
        if not generators:
            yield scope
            return
        first = generators[0]
        inner = Scope(scope.module, {}, scope)
        for value in self.iterate(self.evaluate(first.iter, scope)):
            self.spend()
            self.assign(first.target, value, inner)
            known = [self.condition(test, inner) for test in first.ifs]
            if False in known:
                continue
            if None in known:
                raise Opaque
            yield from self._each(generators[1:], inner)


def _converted(value: Value, conversion: int) -> Value:
    """Follow `!r`, `!s` and `!a`."""
    if conversion == ord("r"):
        return pure(repr, value)
    if conversion == ord("a"):
        return pure(ascii, value)
    return pure(str, value) if conversion == ord("s") else value
