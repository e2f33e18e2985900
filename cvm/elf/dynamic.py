"""The dynamic section: what a file asks of the loader."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.image import PT_DYNAMIC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.elf.image import Image

NULL, NEEDED, PLTRELSZ, HASH, STRTAB, SYMTAB, RELA, RELASZ = 0, 1, 2, 4, 5, 6, 7, 8
STRSZ, SONAME, RPATH, SYMBOLIC, REL, RELSZ, PLTREL, JMPREL = 10, 14, 15, 16, 17, 18, 20, 23
BIND_NOW, RUNPATH, FLAGS = 24, 29, 30
GNU_HASH, VERSYM, RELACOUNT, RELCOUNT, FLAGS_1 = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFF9, 0x6FFFFFFA, 0x6FFFFFFB
VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF

_DF_SYMBOLIC, _DF_BIND_NOW = 0x2, 0x8
_DF_1_NOW, _DF_1_NOOPEN, _DF_1_NODEFLIB, _DF_1_PIE = 0x1, 0x40, 0x800, 0x08000000

# Real files stay below a few hundred entries; a damaged one must not cost gigabytes of strings.
_MOST_ENTRIES = 16384


class Dynamic(NamedTuple):
    """The entries that the loader acts on, and all of them by tag (the last of a tag counts)."""

    soname: str | None
    needed: tuple[str, ...]
    rpath: str | None
    runpath: str | None
    flags: int
    flags_1: int
    tags: Mapping[int, int]

    @property
    def bind_now(self) -> bool:
        """Whether functions are bound at load time, whatever the mode of the load."""
        return BIND_NOW in self.tags or bool(self.flags & _DF_BIND_NOW or self.flags_1 & _DF_1_NOW)

    @property
    def symbolic(self) -> bool:
        """Whether the file's own definitions come first for itself."""
        return SYMBOLIC in self.tags or bool(self.flags & _DF_SYMBOLIC)

    @property
    def no_default_folders(self) -> bool:
        """Whether the loader's cache and default folders are out of bounds for what this file needs."""
        return bool(self.flags_1 & _DF_1_NODEFLIB)

    @property
    def no_open(self) -> bool:
        """Whether dlopen must refuse the file."""
        return bool(self.flags_1 & _DF_1_NOOPEN)

    @property
    def is_program(self) -> bool:
        """Whether this is a position-independent program and no library."""
        return bool(self.flags_1 & _DF_1_PIE)


def read_dynamic(image: Image) -> Dynamic | None:
    """Read the dynamic section; None for a file without one (static, or separate debugging information)."""
    found = [part for part in image.segments if part.kind == PT_DYNAMIC]
    if not found or not found[-1].file_size:
        return None
    entries = _entries(image, found[-1].address)
    tags = dict(entries)
    strings = _Strings(image, tags)
    return Dynamic(
        strings.get(tags.get(SONAME)),
        tuple(strings.text(value) for tag, value in entries if tag == NEEDED),
        # Where both stand, the loader forgets the older one.
        None if RUNPATH in tags else strings.get(tags.get(RPATH)),
        strings.get(tags.get(RUNPATH)),
        tags.get(FLAGS, 0),
        tags.get(FLAGS_1, 0),
        tags,
    )


def string_table(image: Image, tags: Mapping[int, int]) -> tuple[int, int]:
    """Return where the dynamic string table starts and ends in the file."""
    if STRTAB not in tags:
        raise image.error("the dynamic section names no string table")
    offset, left = image.place(tags[STRTAB], "string table")
    return offset, offset + min(tags.get(STRSZ, left), left)


class _Strings:
    """The strings of a dynamic section; the table is looked for only when a string is."""

    def __init__(self, image: Image, tags: Mapping[int, int]) -> None:
        self.image = image
        self.tags = tags
        self.bounds: tuple[int, int] | None = None

    def text(self, index: int) -> str:
        start, end = self.bounds = self.bounds or string_table(self.image, self.tags)
        return os.fsdecode(self.image.text(start + index, end, "string of the dynamic section"))

    def get(self, index: int | None) -> str | None:
        return None if index is None else self.text(index)


def _entries(image: Image, address: int) -> list[tuple[int, int]]:
    record = image.layout.dynamic
    offset, left = image.place(address, "dynamic section")
    table = image.part(offset, left // record.size * record.size, "dynamic section")
    entries: list[tuple[int, int]] = []
    for tag, value in record.iter_unpack(table):
        if tag == NULL:
            return entries
        # 32-bit files sign-extend the tags of vendors.
        entries.append((tag & 0xFFFFFFFF, value))
        if len(entries) > _MOST_ENTRIES:
            break
    else:
        return entries
    raise image.error(f"the dynamic section has more than {_MOST_ENTRIES} entries")
