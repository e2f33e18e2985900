"""The text of a `.cuda-version`: a request, and lines such as `cudnn = 8.9.4`. Reading it, and writing it anew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.core.names import AUTO, COMPANIONS, LATEST, SYSTEM, is_link_name
from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = ".cuda-version"

# The same forms as in `shims/shim.sh`, which reads these files too; one table tests both.
_VERSION = r"[0-9][0-9A-Za-z.+_]*"
_COMPANION = rf"({'|'.join(COMPANIONS)})"
_TOOLKIT = re.compile(rf"{_VERSION}|{LATEST}")
_PART = re.compile(rf"{_COMPANION}({_VERSION}|auto|{LATEST})?")
_LINE = re.compile(rf"{_COMPANION}[ \t]*=[ \t]*({_VERSION}|auto|{LATEST})")
_COMMENT = re.compile(r"(^|[ \t])#.*", re.DOTALL)
_BOM = "\ufeff"
_HINT = "write it as 12.1 or 12.1-cudnn8.9.4"


class Pinned(NamedTuple):
    """What a file asks for, and the number of the line that says so, counted from 1."""

    request: str
    line: int


def read_pinned(text: str, path: str) -> Pinned:
    """Read the text of a file; raises UsageError that names the file and the line at fault."""
    toolkit, where = "", 0
    companions: dict[str, str] = {}
    for number, line in _lines(text):
        if match := _LINE.fullmatch(line):
            _add(companions, match[1], match[2], f"{path}:{number}")
        elif not toolkit and (parts := request_parts(line)) is not None:
            toolkit, where = parts[0], number
            for product, version in parts[1]:
                _add(companions, product, version, f"{path}:{number}")
        else:
            raise _unreadable(path, number, line)
    if not toolkit:
        raise UsageError(f"{path} names no CUDA version", hint=_HINT)
    if companions and not _TOOLKIT.fullmatch(toolkit):
        raise _unreadable(path, where, toolkit)
    return Pinned(_joined(toolkit, companions), where)


def request_parts(text: str) -> tuple[str, list[tuple[str, str]]] | None:
    """Split a request into toolkit and companions; None for what is none. A name is a toolkit without companions."""
    toolkit, *rest = text.split("-")
    if not rest and (is_link_name(text) or text == SYSTEM):
        return text, []
    matches = [_PART.fullmatch(part) for part in rest]
    if not _TOOLKIT.fullmatch(toolkit) or None in matches:
        return None
    return toolkit, [(match[1], match[2] or "") for match in matches if match]


def plain_request(text: str, where: str) -> str | None:
    """Return a request in its plain spelling, companions in their order; None for what is none.

    Raises UsageError that names `where` when it asks for a companion twice.
    """
    parts = request_parts(text)
    if parts is None:
        return None
    companions: dict[str, str] = {}
    for product, version in parts[1]:
        _add(companions, product, version, where)
    return _joined(parts[0], companions)


def rewritten(text: str, request: str) -> str:
    """Return a file's text with another request; comments and blank lines stay where they are."""
    numbers = [number - 1 for number, _ in _lines(text)]
    if not numbers:
        return text + ("" if not text or text.endswith("\n") else "\n") + request + "\n"
    lines = text.split("\n")
    lines[numbers[0]] = request
    return "\n".join(line for index, line in enumerate(lines) if index not in numbers[1:])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.removeprefix(_BOM).split("\n"), 1):
        if content := _COMMENT.sub("", line.removesuffix("\r")).strip(" \t"):
            yield number, content


def _add(companions: dict[str, str], product: str, version: str, where: str) -> None:
    # Each of these means the newest that serves the toolkit, and has one spelling.
    version = "" if version in (AUTO, LATEST) else version
    if companions.setdefault(product, version) != version:
        both = f"{companions[product] or 'any'} and {version or 'any'}"
        raise UsageError(f"{where} asks for {product} twice: {both}")


def _joined(toolkit: str, companions: dict[str, str]) -> str:
    return "-".join([toolkit, *(product + companions[product] for product in COMPANIONS if product in companions)])


def _unreadable(path: str, number: int, line: str) -> UsageError:
    # A terminal would obey what somebody else's file holds.
    if any(letter < " " or letter == "\x7f" for letter in line):
        return UsageError(f"{path}:{number} can't be read: it holds control characters", hint=_HINT)
    return UsageError(
        f"{path}:{number} can't be read: `{line[:40]}` is neither a CUDA version nor a companion's", hint=_HINT
    )
