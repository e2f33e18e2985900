"""ldconfig's cache, `/etc/ld.so.cache`: where it says a library lies."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.error import ElfError
from cvm.elf.layout import AARCH64, X86, X86_64

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PATH = "/etc/ld.so.cache"

_OLD, _NEW = b"ld.so-1.7.0\0", b"glibc-ld.so.cache1.1"
_OLD_HEADER, _OLD_ENTRY = struct.Struct("12sI"), struct.Struct("iII")
_ENTRY_FIELDS = "iIIIQ"
_EXTENSION_MAGIC = 0xEAA42174
_HWCAPS_TAG = 1
# A bit that says: the low half is the number of a glibc-hwcaps folder.
_NAMED = 1 << 62
_ORDER = {0: "=", 2: "<", 3: ">"}

# What the loader accepts: class and machine, together with "libc 6".
_FLAGS = {(X86_64, 64): 0x0303, (X86_64, 32): 0x0803, (X86, 32): 0x0003, (AARCH64, 64): 0x0A03}


class Entry(NamedTuple):
    """One library of the cache; `folder` is the glibc-hwcaps folder that it lies in, `other` an older capability."""

    name: str
    path: str
    flags: int
    folder: str | None
    other: bool


class Cache(NamedTuple):
    """The entries by name, in the file's order."""

    entries: Mapping[str, Sequence[Entry]]

    def find(self, name: str, machine: int, bits: int, folders: Sequence[str]) -> str | None:
        """Return the one path that the loader would try; `folders` are glibc-hwcaps folders, the best first."""
        flags = _FLAGS.get((machine, bits))
        fit = [entry for entry in self.entries.get(name, ()) if entry.flags == flags and not entry.other]
        named = [entry for entry in fit if entry.folder is not None and entry.folder in folders]
        if named:
            return min(named, key=lambda entry: folders.index(entry.folder or "")).path
        return next((entry.path for entry in fit if entry.folder is None), None)


def parse_cache(data: bytes, name: str = PATH) -> Cache:
    """Read a cache file of the format of glibc 2.2 or newer, with or without the older one in front of it."""
    start = _start(data, name)
    header = data[start : start + 48]
    if len(header) < 48 or not header.startswith(_NEW):
        raise ElfError(name, "not a cache of ldconfig's")
    order = _ORDER.get(header[28] & 3)
    if order is None:
        raise ElfError(name, "a cache of unknown byte order")
    count, _ = struct.unpack_from(order + "II", header, 20)
    record = struct.Struct(order + _ENTRY_FIELDS)
    if count > (len(data) - start - 48) // record.size:
        raise ElfError(name, "the cache is shorter than its table")
    (extension,) = struct.unpack_from(order + "I", header, 32)
    reader = _Strings(data, start, name)
    folders = _folders(reader, order, extension)
    table = memoryview(data)[start + 48 : start + 48 + count * record.size]
    entries: dict[str, list[Entry]] = {}
    for flags, key, value, _, capability in record.iter_unpack(table):
        folder = _folder(folders, capability)
        other = folder is None and capability != 0
        entry = Entry(reader.text(key), reader.text(value), flags, folder, other)
        entries.setdefault(entry.name, []).append(entry)
    return Cache(entries)


def _start(data: bytes, name: str) -> int:
    """Return where the newer format starts."""
    if not data.startswith(_OLD):
        return 0
    if len(data) < _OLD_HEADER.size:
        raise ElfError(name, "the cache is shorter than its header")
    count: int = _OLD_HEADER.unpack_from(data)[1]
    end = _OLD_HEADER.size + count * _OLD_ENTRY.size
    return (end + 7) // 8 * 8


def _folder(folders: Sequence[str], capability: int) -> str | None:
    number = capability & 0xFFFFFFFF
    return folders[number] if capability & _NAMED and number < len(folders) else None


def _folders(reader: _Strings, order: str, offset: int) -> list[str]:
    """Return the names of the glibc-hwcaps folders, which an extension behind the strings lists."""
    if not offset:
        return []
    magic, count = reader.unpack(order + "II", offset)
    if magic != _EXTENSION_MAGIC:
        return []
    for number in range(min(count, 64)):
        tag, _, start, size = reader.unpack(order + "IIII", offset + 8 + 16 * number)
        if tag == _HWCAPS_TAG:
            return list(_texts(reader, order, start, min(size // 4, 1024)))
    return []


def _texts(reader: _Strings, order: str, start: int, count: int) -> Iterator[str]:
    for number in range(count):
        (text,) = reader.unpack(order + "I", start + 4 * number)
        yield reader.text(text)


class _Strings:
    """Records and strings of the file; offsets count from the newer format's header."""

    def __init__(self, data: bytes, start: int, name: str) -> None:
        self.data = data
        self.start = start
        self.name = name

    def unpack(self, fields: str, offset: int) -> tuple[int, ...]:
        record = struct.Struct(fields)
        if self.start + offset + record.size > len(self.data):
            raise ElfError(self.name, "a record lies outside of the cache")
        return record.unpack_from(self.data, self.start + offset)

    def text(self, offset: int) -> str:
        begin = self.start + offset
        end = self.data.find(b"\0", begin, begin + 4096)
        if end < 0:
            raise ElfError(self.name, "a string lies outside of the cache")
        return os.fsdecode(self.data[begin:end])
