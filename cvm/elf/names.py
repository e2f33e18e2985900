"""Names of libraries that stand in a file's read-only data: what it may dlopen by a bare name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.elf.image import Image

_WRITABLE, _EXECUTABLE = 2, 1
# The NUL in front is a literal to search for, which is three times faster than a look behind every byte.
_NAME = re.compile(rb"\0(lib[A-Za-z0-9_+.-]{1,120}?\.so(?:\.[0-9]{1,8}){0,4})(?=\0)")
_PROGBITS = 1


def dlopen_names(image: Image) -> tuple[str, ...]:
    """Return the strings of a file's `.rodata` that are names of libraries, sorted.

    Without section headers the segments that are neither written nor executed are searched, else the code.
    """
    found: set[bytes] = set()
    for start, end in _stretches(image):
        found.update(match[1] for match in _NAME.finditer(image.data, start, end))
        found.update(match[1] for match in [_NAME.match(b"\0" + image.data[start : start + 256])] if match)
    return tuple(sorted(name.decode("ascii", "backslashreplace") for name in found))


def _stretches(image: Image) -> list[tuple[int, int]]:
    try:
        found = list(_rodata(image))
    except ValueError:
        found = []
    if not found:
        loads = image.loads
        parts = [load for load in loads if not load.flags & (_WRITABLE | _EXECUTABLE)]
        parts = parts or [load for load in loads if not load.flags & _WRITABLE]
        found = [(load.offset, load.offset + load.file_size) for load in parts]
    return found


def _rodata(image: Image) -> Iterator[tuple[int, int]]:
    """Yield the stretches of the sections named `.rodata…`; raises ValueError where the table can't be read."""
    header = image.unpack(image.layout.header, 0)
    start, size, count, names = header[5], *header[10:13]
    record = image.layout.section
    if not start or size != record.size or start + size * count > len(image.data) or names >= count:
        raise ValueError
    table = list(record.iter_unpack(memoryview(image.data)[start : start + size * count]))
    strings = table[names][4]
    for name, kind, _, _, offset, length, *_ in table:
        if kind == _PROGBITS and image.data[strings + name : strings + name + 7] == b".rodata":
            yield offset, offset + length
