"""Values of interpreted code: Python's own where they are known, and stand-ins for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping

    from cvm.consumers.script.scope import Scope

Value = object


@final
class _Unknown:
    """What only a run would tell; it must never be taken for true, false or equal to something."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "…"

    def __bool__(self) -> bool:
        raise TypeError

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


Unknown = _Unknown()

_LONGEST_LINE = 200


@dataclass(frozen=True, eq=False)
class Native:
    """A function that is modelled here; it gets the positional and the named arguments."""

    name: str
    call: Callable[[list[Value], dict[str, Value]], Value]


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the interpreted code, with the scope it closes over and the values of its defaults."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    defaults: tuple[Value, ...]
    named_defaults: Mapping[str, Value]
    owner: Class | None = None
    doubtful: bool = False


class Class:
    """A class of the interpreted code; `open` where a base is unknown, so that any attribute may be there."""

    def __init__(self, name: str, bases: tuple[Class, ...], names: dict[str, Value], *, is_open: bool) -> None:
        self.name = name
        self.bases = bases
        self.names = names
        # The class, then its bases, each once: through many diamonds there are many ways to one base.
        line = dict.fromkeys((self, *(one for base in bases for one in base.line)))
        self.line: tuple[Class, ...] = tuple(line)[:_LONGEST_LINE]
        self.open: bool = is_open or len(self.line) == _LONGEST_LINE or any(base.open for base in bases)

    def find(self, name: str) -> Value | None:
        """Return an attribute of the class or the nearest base that has it, None where none does."""
        return next((one.names[name] for one in self.line if name in one.names), None)


class Instance:
    """An object of an interpreted class."""

    def __init__(self, owner: Class) -> None:
        self.owner = owner
        self.names: dict[str, Value] = {}


@dataclass(frozen=True, eq=False)
class Bound:
    """A function with its first argument."""

    function: Value
    first: Value


@dataclass(frozen=True, eq=False)
class Decorated:
    """A function as `property`, `staticmethod`, `classmethod` or `contextmanager` wraps it."""

    kind: str
    function: Value


@dataclass(frozen=True, eq=False)
class Manager:
    """A call of a function that a `with` statement uses: what it does before and after its `yield`."""

    function: Value
    arguments: tuple[Value, ...]
    named: Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Parent:
    """What `super()` gives."""

    owner: Class
    instance: Value


class Module:
    """A module of the interpreted code; `file` is None for a folder without `__init__.py`.

    `open`: names may be in it that were not seen.
    `rest` runs what of it was put off, part by part, None where nothing was.
    """

    def __init__(self, name: str, file: str | None, folder: str | None = None) -> None:
        self.name = name
        self.file = file
        self.folder = folder
        self.names: dict[str, Value] = {"__name__": name, "__file__": file}
        self.open = False
        self.complete = False
        self.rest: Iterator[bool] | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """A module of the standard library, as far as it is modelled; what it lacks is unknown."""

    name: str
    names: dict[str, Value]


@dataclass(frozen=True, eq=False)
class Deferred:
    """A name of a module that runs only when the name is looked at."""

    module: Module
    name: str


@dataclass(frozen=True, eq=False)
class Library:
    """What ctypes gives for an opened library."""

    name: str


@dataclass(frozen=True, eq=False)
class Spec:
    """What `importlib.util.find_spec` gives."""

    name: str
    origin: str | None
    submodule_search_locations: list[str] | None


class PosixPath(PurePosixPath):
    """A path of the interpreted code's pathlib; its class has the name that `repr` shows."""

    __slots__ = ()


class TextFile:
    """An open file with its text."""

    def __init__(self, text: str) -> None:
        self.lines: Iterator[str] = iter(text.splitlines(keepends=True))


@dataclass(frozen=True, eq=False)
class VersionInfo:
    """`sys.version_info`, of which no more than two numbers are known."""

    major: int
    minor: int


_SCALARS = frozenset({str, int, float, bool, type(None), bytes, complex, range, slice, PosixPath})
_LISTS = frozenset({list, tuple, set, frozenset})
_VIEWS = frozenset({type({}.keys()), type({}.values()), type({}.items())})
_DEEPEST = 20
_CHARACTERS = 10  # of a text weigh as much as an element of a list


def plain(value: Value, depth: int = 0) -> bool:
    """Whether a value is Python's own through and through, so that Python's own functions may work on it."""
    kind = type(value)
    if kind in _SCALARS or isinstance(value, BaseException):
        return True
    if depth > _DEEPEST:
        return False
    if kind in _LISTS or kind in _VIEWS:
        return all(plain(one, depth + 1) for one in value)  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return all(plain(key, depth + 1) and plain(one, depth + 1) for key, one in value.items())
    return False


def weight(value: Value, most: int) -> int:
    """Count what a value is made of, what is in its elements and all, up to about `most`.

    What is in several places counts several times: comparing, hashing and printing take their time for each.
    """
    count, queue = 0, [value]
    while queue and count < most:
        one = queue.pop()
        kind = type(one)
        if kind is str or kind is bytes:
            count += len(one) // _CHARACTERS  # type: ignore[arg-type]
        elif kind is range:
            count += len(one)  # type: ignore[arg-type]
        elif kind in _LISTS or kind in _VIEWS:
            count += len(one)  # type: ignore[arg-type]
            queue += one  # type: ignore[arg-type]
        elif isinstance(one, dict):
            count += len(one)
            queue += (*one, *one.values())
    return count


def truth(value: Value) -> bool | None:
    """Whether a condition holds, None where that is unknown."""
    if value is Unknown:
        return None
    if isinstance(value, Instance):
        vague = value.owner.open or value.owner.find("__bool__") or value.owner.find("__len__")
        return None if vague else True
    if isinstance(
        value,
        (
            Module,
            Known,
            Function,
            Native,
            Class,
            Bound,
            Library,
            Spec,
            Decorated,
            Manager,
            Parent,
            TextFile,
            VersionInfo,
        ),
    ):
        return True
    return bool(value)
