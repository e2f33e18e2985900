"""LD_LIBRARY_PATH, element by element, as glibc's loader takes it apart."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from cvm.doctor.case import PathElement
from cvm.doctor.family import is_cuda, is_driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SEPARATORS = re.compile("[:;]")
# What the loader itself replaces, see ld.so(8): where such an element leads depends on the program.
LOADER_TOKEN = re.compile(r"\$(?:\{(?:ORIGIN|PLATFORM|LIB)\}|(?:ORIGIN|PLATFORM|LIB)(?![A-Za-z0-9_]))")


def path_elements(
    value: str, folder: str, is_folder: Callable[[str], bool], names: Callable[[str], Iterable[str]]
) -> tuple[PathElement, ...]:
    """Split a value of LD_LIBRARY_PATH for a process that stands in `folder`.

    As for the loader, a value that is empty as a whole holds nothing, an empty element is the current folder, and of
    equal elements the first counts; the numbers are those of `Found.number`. `is_folder` and `names` answer for
    absolute paths. An element with `$ORIGIN`, `$LIB` or `$PLATFORM` has no folder: it depends on the program.
    """
    elements: dict[str, PathElement] = {}
    for number, text in enumerate(_SEPARATORS.split(value) if value else ()):
        where = _folder(text, folder, is_folder)
        cuda = _cuda(names(where)) if where else ()
        # The loader compares what is written: `lib` and `/here/lib` count as two.
        elements.setdefault(text and text.rstrip("/") + "/", PathElement(number, text, where, cuda))
    return tuple(elements.values())


def _folder(text: str, folder: str, is_folder: Callable[[str], bool]) -> str | None:
    if LOADER_TOKEN.search(text):
        return None
    path = posixpath.join(folder, text).rstrip("/") or "/"
    return path if is_folder(path) else None


def _cuda(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if is_cuda(name) or is_driver(name)))
