"""What came of a start or a dlopen: what was loaded and why, or what the loader would say."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.elf.files import Identity
    from cvm.elf.found import Found, Place


class Loaded(NamedTuple):
    """A file in the process: its path as the loader spells it, and who first asked for it by which name."""

    path: str
    soname: str | None
    name: str
    found: Found
    requested_by: str | None
    identity: Identity | None


class Request(NamedTuple):
    """One name that somebody asked for, and the file that answered it."""

    requester: str | None
    name: str
    path: str
    found: Found


class Missing(NamedTuple):
    """A name that nothing answered, the places that were tried, and what the loader says."""

    requester: str | None
    name: str
    places: tuple[Place, ...]
    text: str


_INCONSISTENT = (
    "Inconsistency detected by ld.so: dl-lookup.c: check_match: Assertion "
    "`version->filename == NULL || ! _dl_name_match_p (version->filename, map)' failed!"
)


class MissingSymbol(NamedTuple):
    """A symbol that a file wants and nothing in its scope defines; `file` is where its version should be.

    `inconsistent`: that file defines the name and has no version at all, which glibc ends the process for.
    """

    path: str
    name: str
    version: str | None
    file: str | None
    inconsistent: bool = False

    @property
    def text(self) -> str:
        """The loader's words."""
        if self.inconsistent:
            return _INCONSISTENT
        version = "" if self.version is None else f", version {self.version}"
        return f"{self.path}: undefined symbol: {self.name}{version}"


class MissingVersion(NamedTuple):
    """A version node that a file needs and the library that won does not define."""

    path: str
    version: str
    required_by: str

    @property
    def text(self) -> str:
        """The loader's words."""
        return f"{self.path}: version `{self.version}' not found (required by {self.required_by})"


class Kind(Enum):
    """The ways of failing."""

    LIBRARY = "a library is missing"
    FILE = "a file is no library that can be loaded"
    VERSION = "a version is missing"
    SYMBOL = "a symbol is missing"
    ABORT = "the loader would end the process"
    DAMAGED = "a file is damaged"


class Failure(NamedTuple):
    """Why a load fails: `text` is what dlerror would say, the lists hold everything of that kind, the first first."""

    kind: Kind
    text: str
    libraries: tuple[Missing, ...] = ()
    versions: tuple[MissingVersion, ...] = ()
    symbols: tuple[MissingSymbol, ...] = ()


class Outcome(NamedTuple):
    """What came of one load.

    `loaded` are the files that it brought, in the loader's order; `requests` every name that was asked for on the way.
    `unbound` are functions that are missing and only called later: the call would end the process.
    `warnings` is what the loader prints at a start before it goes on or gives up.
    """

    name: str
    failure: Failure | None
    root: Loaded | None = None
    loaded: tuple[Loaded, ...] = ()
    requests: tuple[Request, ...] = ()
    unbound: tuple[MissingSymbol, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the load succeeds."""
        return self.failure is None

    def printed(self, program: str) -> str:
        """Return what a start prints on stderr, for a program of this name."""
        lines = [one if one.startswith("ERROR: ") else f"{program}: {one}" for one in self.warnings]
        if self.failure is not None and self.failure.kind is Kind.ABORT:
            lines.append(self.failure.text)
        elif self.failure is not None and self.failure.kind is not Kind.VERSION:
            lookup = self.failure.kind is Kind.SYMBOL
            words = "symbol lookup error" if lookup else "error while loading shared libraries"
            lines.append(f"{program}: {words}: {self.failure.text}")
        return "".join(f"{line}\n" for line in lines)


class Refused(Exception):  # noqa: N818 - it carries a failure, it is none of ours
    """Raised inside of the model to give up a load."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


def with_reason(text: str, number: int) -> str:
    """Add an error number's words, as glibc does."""
    return f"{text}: {os.strerror(number)}" if number else text


def merged(failures: Sequence[Failure]) -> Failure:
    """Put what else is missing behind the failure that the loader would report."""
    first = failures[0]
    libraries = tuple(one for failure in failures for one in failure.libraries)
    return first._replace(libraries=libraries)
