"""The text of a module, parsed only as far as it is needed."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.elf.files import Files

# What names a load: of ctypes, of torch, of importlib. A comment that has such a word costs time, no more.
LOAD_WORDS = frozenset(
    {"CDLL", "PyDLL", "cdll", "pydll", "LoadLibrary", "dlopen", "load_library", "import_module", "__import__"}
)
_LOADS = re.compile(r"\b(?:" + "|".join(sorted(LOAD_WORDS)) + r")\b")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
# A line at which a statement of the module may begin.
START = re.compile(r"^(?!else\b|elif\b|except\b|finally\b)[^\s#)\]}]", re.MULTILINE)
_LARGEST = 8 << 20
_LONGEST = 1 << 18  # a character that is parsed may take half a kilobyte
_BLOCK = 6000  # characters that are parsed at a time


class Unreadable(Exception):  # noqa: N818 - it is caught where it is raised
    """A text that this Python cannot parse."""


def names_load(text: str) -> bool:
    """Whether a text has a word that stands for a load."""
    return _LOADS.search(text) is not None


def imports(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return what a text imports when it is run, as (dots, module, names)."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for match in _IMPORT.finditer(text):
        if match[0][:1] in " \t" and _in_function(text, match.start()):
            continue
        if match[1]:
            module = match[1].lstrip(".")
            found.append((len(match[1]) - len(module), module, tuple(_first_words(match[2].strip("() \t")))))
        else:
            found += [(0, name, ()) for name in _first_words(match[3])]
    return found


def _first_words(text: str) -> list[str]:
    return [one.split()[0] for one in text.split(",") if one.strip()]


def _in_function(text: str, place: int) -> bool:
    """Whether an indented line belongs to a function or class: the last line that isn't indented tells."""
    while place > 0:
        place = text.rfind("\n", 0, place)
        line = text[place + 1 : place + 10]
        if line and line[0] not in " \t\n#)]}":
            return line.startswith(("def ", "class ", "async def"))
    return False


def statements(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a module, block by block; raises Unreadable.

    A block that ends between two statements parses on its own; one that ends elsewhere does not parse, and is
    made longer: a string, a bracket or a decorator is cut.
    """
    place = line = 0
    while place < len(text):
        stop, tree = _block(text, place, line)
        yield from tree.body
        line += text.count("\n", place, stop)
        place = stop


def _block(text: str, place: int, line: int) -> tuple[int, ast.Module]:
    """Parse the next block, with empty lines in front so that line numbers are right."""
    size = _BLOCK
    while True:
        start = START.search(text, place + size)
        stop = start.start() if start else len(text)
        if stop - place > _LONGEST:
            raise Unreadable(f"a statement of more than {_LONGEST} characters")
        try:
            return stop, ast.parse("\n" * line + text[place:stop])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if stop == len(text):
                raise Unreadable(str(error) or type(error).__name__) from error
        size *= 2


def text_of(files: Files, path: str) -> str | None:
    """Return a text file, None where it can't be read; never waits for a pipe or a device."""
    try:
        data = files.elf(path).data
    except (OSError, ValueError):
        return None
    return bytes(data).decode("utf-8", "surrogateescape") if len(data) < _LARGEST else None
