"""How interpreted code leaves the straight way."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cvm.consumers.script.values import Value


class Way(Exception):  # noqa: N818 - none of these is an error of this program
    """What is raised inside of the interpreter on purpose."""


class Thrown(Way):
    """An exception of the interpreted code."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class Opaque(Way):
    """Raised inside of a comprehension or loop over something unknown."""


class Exhausted(Way):
    """The interpretation takes too long or goes too deep."""


class Reached(Way):
    """What was to be reached is loaded."""


class Ended(Way):
    """The loader ends the process."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Signal(NamedTuple):
    """`return` with its value, `break` or `continue`, on the way out of a block."""

    kind: str
    value: Value = None


BREAK, CONTINUE = Signal("break"), Signal("continue")
