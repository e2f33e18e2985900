"""Symbol versions: the nodes a file defines, those it needs from others, and which symbol has which."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.dynamic import VERDEF, VERNEED, VERSYM, string_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.elf.image import Image

HIDDEN = 0x8000
_BASE, _WEAK = 1, 2

# The largest real table (libc's own) has some forty nodes.
_MOST_NODES = 65536


class NeededVersion(NamedTuple):
    """A version node that must be in the file `file` (the name by which it is needed)."""

    file: bytes
    name: bytes
    number: int
    weak: bool
    hidden: bool


class DefinedVersion(NamedTuple):
    """A version node that a file defines; the base node carries the name of the file itself."""

    name: bytes
    number: int
    base: bool


class Version(NamedTuple):
    """What a symbol's version index stands for; a defined version has no file."""

    name: bytes
    file: bytes | None
    hidden: bool


class Versions(NamedTuple):
    """The version tables of a file; `symbols` is None where the loader sees no versions at all."""

    needed: tuple[NeededVersion, ...]
    defined: tuple[DefinedVersion, ...]
    by_index: Mapping[int, Version]
    symbols: Sequence[int] | None


def read_versions(image: Image, tags: Mapping[int, int]) -> Versions:
    """Read the version tables of a file."""
    needed = tuple(_needed(image, tags)) if VERNEED in tags else ()
    defined = tuple(_defined(image, tags)) if VERDEF in tags else ()
    by_index = {node.number: Version(node.name, node.file, node.hidden) for node in needed}
    # The base node is no version that a symbol could match.
    by_index.update((node.number, Version(node.name, None, False)) for node in defined if not node.base)  # noqa: FBT003
    symbols = None
    if (needed or defined) and VERSYM in tags:
        symbols = image.words(tags[VERSYM], None, "H", "symbol version table")
    return Versions(needed, defined, by_index, symbols)


def _needed(image: Image, tags: Mapping[int, int]) -> Iterator[NeededVersion]:
    start, end = string_table(image, tags)
    for offset, (_, _, file, aux, _) in _chain(image, tags[VERNEED], "HHIII", "needed versions"):
        library = image.text(start + file, end, "name of a versioned file")
        for _, (_, flags, index, name, _) in _links(image, offset + aux, "IHHII", "needed versions"):
            text = image.text(start + name, end, "name of a version")
            yield NeededVersion(library, text, index & ~HIDDEN, bool(flags & _WEAK), bool(index & HIDDEN))


def _defined(image: Image, tags: Mapping[int, int]) -> Iterator[DefinedVersion]:
    start, end = string_table(image, tags)
    for offset, (_, flags, index, _, _, aux, _) in _chain(image, tags[VERDEF], "HHHHIII", "defined versions"):
        (name, _) = image.unpack(_record(image, "II"), offset + aux)
        text = image.text(start + name, end, "name of a version")
        yield DefinedVersion(text, index & ~HIDDEN, bool(flags & _BASE))


def _chain(image: Image, address: int, fields: str, what: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    yield from _links(image, image.place(address, what)[0], fields, what)


def _links(image: Image, offset: int, fields: str, what: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Follow records whose last field says how far on the next one lies."""
    record = _record(image, fields)
    for _ in range(_MOST_NODES):
        values = image.unpack(record, offset)
        yield offset, values
        if not values[-1]:
            return
        offset += values[-1]
    raise image.error(f"the list of {what} does not end")


def _record(image: Image, fields: str) -> struct.Struct:
    return struct.Struct(("<" if image.layout.little else ">") + fields)
