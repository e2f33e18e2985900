"""By which rule the loader came to a file: the answer to "why this one?"."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Rule(Enum):
    """The loader's rules, in no order."""

    PROGRAM = "the program itself"
    INTERPRETER = "the program's interpreter"
    LOADED = "already loaded as"
    PATH = "by path"
    RPATH = "RPATH"
    ENVIRONMENT = "LD_LIBRARY_PATH"
    RUNPATH = "RUNPATH"
    CACHE = "ld.so.cache"
    DEFAULT = "default folder"


class Found(NamedTuple):
    """A rule, with the element of a path as it is written, its number in that path, and whose path it is.

    `preload` names the variable or file that asked for the library, where nothing else did.
    """

    rule: Rule
    element: str = ""
    number: int | None = None
    owner: str | None = None
    preload: str | None = None

    def __str__(self) -> str:
        by = f"{self.preload}, " if self.preload else ""
        if self.rule is Rule.ENVIRONMENT:
            return f"{by}LD_LIBRARY_PATH[{self.number}]={self.element}"
        if self.rule in (Rule.RPATH, Rule.RUNPATH):
            return f"{by}{self.rule.value} of {self.owner}"
        if self.rule is Rule.LOADED:
            return f"{by}{self.rule.value} {self.owner}"
        if self.rule is Rule.DEFAULT:
            return f"{by}{self.rule.value} {self.element}"
        return f"{by}{self.rule.value}"


class Place(NamedTuple):
    """A folder that the loader searches, or a file that the cache names, and by which rule."""

    found: Found
    path: str
