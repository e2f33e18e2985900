"""What every part of the interpreter shares: the session, the budget, and where the code is."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from cvm.consumers.script.signals import Exhausted, Thrown
from cvm.consumers.script.values import Deferred, Unknown, truth, weight

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator, Sequence

    from cvm.consumers.script.scope import Scope
    from cvm.consumers.script.signals import Signal
    from cvm.consumers.script.values import Module, Value

_STEPS = 60_000
_DEPTH = 40
ELEMENTS = 50  # of a list take about as long as a step
_LIGHT = frozenset({int, bool, float, type(None), type(Unknown)})


class Core(ABC):
    """The budget, the place in the code, and names; the abstract methods stand in the layers above."""

    def __init__(self) -> None:
        self.steps = 0
        self.depth = 0
        self.line = 0
        self.module: Module | None = None
        self.builtins: dict[str, Value] = {}
        # The functions that are running, the innermost last.
        self.frames: list[Scope] = []
        # The `except` clauses around the code that is running, the innermost last.
        self.guards: list[tuple[Sequence[ast.ExceptHandler], Scope]] = []
        # Errors that have a reason which is sure: a file, a load, a module that isn't there.
        self.grounds: list[BaseException] = []
        # Errors that a statement raises, rather than an operation that fails.
        self.raised: list[BaseException] = []
        # The exception that is being handled, for a bare `raise`.
        self.handling: list[BaseException] = []

    @abstractmethod
    def cannot_tell(self, sentence: str) -> None:
        """Note what could not be followed."""

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression."""

    @abstractmethod
    def block(self, body: Iterable[ast.stmt], scope: Scope) -> Signal | None:
        """Execute statements; return what leaves them early."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind a target to a value."""

    @abstractmethod
    def call(self, function: Value, arguments: list[Value], named: dict[str, Value]) -> Value:
        """Call a value."""

    @abstractmethod
    def may_load(self, *nodes: ast.AST) -> bool:
        """Whether code may load something, by itself or by what it calls."""

    @abstractmethod
    def attribute(self, value: Value, name: str) -> Value:
        """Return an attribute."""

    @abstractmethod
    def iterate(self, value: Value) -> Iterator[Value]:
        """Yield what a loop over a value would; raises Opaque."""

    def condition(self, node: ast.expr, scope: Scope) -> bool | None:
        """Whether a condition holds, None where that is unknown."""
        return truth(self.evaluate(node, scope))

    @property
    def place(self) -> str:
        """Where the code is: `package/__init__.py:12`."""
        if self.module is None or self.module.file is None:
            return "?"
        parts = self.module.name.count(".") + (2 if self.module.folder else 1)
        return "/".join(self.module.file.split("/")[-parts:]) + f":{self.line}"

    def spend(self, steps: int = 1) -> None:
        """Count work; raises Exhausted."""
        self.steps += steps
        if self.steps > _STEPS:
            raise Exhausted

    def charge(self, *values: Value) -> None:
        """Count the work and the memory that large values take; raises Exhausted."""
        for value in values:
            if type(value) not in _LIGHT:
                self.spend(weight(value, (_STEPS - self.steps + 1) * ELEMENTS) // ELEMENTS)

    def enter(self) -> None:
        """Go a call deeper; raises Exhausted."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise Exhausted

    def lookup(self, name: str, scope: Scope) -> Value:
        """Return what a name means; raises Thrown for a local that has no value yet."""
        try:
            names = scope.find(name)
        except KeyError:
            raise Thrown(self.unbound(name)) from None
        if names is None:
            return self.builtins[name] if name in self.builtins else self._undefined(name)
        value = names[name]
        if type(value) is Deferred:
            value = names[name] = self.attribute(value.module, value.name)
        return value

    def _undefined(self, name: str) -> Value:
        """Return Unknown for a name that nobody defined; raises Thrown where the code asks just that."""
        if not hasattr(builtins, name) and any(self._asks(*guard, NameError) for guard in self.guards[-1:]):
            raise Thrown(NameError(f"name '{name}' is not defined"))
        return Unknown

    def _asks(self, handlers: Sequence[ast.ExceptHandler], scope: Scope, kind: type[BaseException]) -> bool:
        kinds = [self.evaluate(one.type, scope) for one in handlers if one.type is not None]
        return any(kind in one if isinstance(one, tuple) else one is kind for one in kinds)

    def sure(self, error: BaseException) -> Thrown:
        """Return what raises an error whose reason is sure."""
        self.grounds.append(error)
        return Thrown(error)

    def ground(self, error: BaseException) -> None:
        """Take an error for sure that comes from where a load is prepared: there it is most likely real."""
        self.grounds.append(error)

    def is_sure(self, error: BaseException) -> bool:
        """Whether an error comes of one whose reason is sure, rather than of code that was followed badly."""
        return any(cause is ground for cause in causes(error) for ground in self.grounds)

    @abstractmethod
    def unbound(self, name: str) -> BaseException:
        """Return the error for a local that has no value yet, in the words of the examined Python."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then what it was raised from or while handling, one behind the other."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and all(one is not other for other in seen):
        seen.append(one)
        yield one
        one = one.__cause__ or one.__context__
