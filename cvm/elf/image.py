"""The bytes of an ELF file, addressed the way the loader maps them."""

from __future__ import annotations

import array
import sys
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.error import ElfError
from cvm.elf.layout import layout

if TYPE_CHECKING:
    import mmap
    import struct
    from collections.abc import Sequence

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
ET_EXEC, ET_DYN = 2, 3

_MAGIC = b"\x7fELF"
_BITS = {1: 32, 2: 64}
_LITTLE = {1: True, 2: False}
_WIDTHS = {"H": 2, "I": 4, "Q": 8}
_NATIVE_LITTLE = sys.byteorder == "little"


class Segment(NamedTuple):
    """One program header."""

    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int
    align: int


class Image:
    """The header and program headers of an ELF file, and checked access to what its segments map."""

    __slots__ = ("data", "kind", "layout", "loads", "machine", "name", "segments")

    def __init__(self, data: bytes | mmap.mmap, name: str) -> None:
        self.data = data
        self.name = name
        ident = data[:16]
        if len(ident) < 16 or ident[:4] != _MAGIC:
            raise self.error("not an ELF file")
        bits, little = _BITS.get(ident[4]), _LITTLE.get(ident[5])
        if bits is None or little is None:
            raise self.error(f"unknown ELF class {ident[4]} or byte order {ident[5]}")
        self.layout = layout(bits, little=little)
        self.kind, self.machine, _, _, start, _, _, _, size, count, *_ = self.unpack(self.layout.header, 0)
        self.segments = self._segments(start, size, count)
        self.loads = tuple(part for part in self.segments if part.kind == PT_LOAD)

    def error(self, reason: str) -> ElfError:
        """Make the error that says what is wrong with this file."""
        return ElfError(self.name, reason)

    def unpack(self, record: struct.Struct, offset: int) -> tuple[int, ...]:
        """Read one record; raises ElfError outside of the file."""
        if not 0 <= offset <= len(self.data) - record.size:
            raise self.error(f"a record at offset {offset:#x} lies outside of the file")
        return record.unpack_from(self.data, offset)

    def part(self, offset: int, size: int, what: str) -> memoryview:
        """Return a stretch of the file; raises ElfError outside of it."""
        if not (offset >= 0 and 0 <= size <= len(self.data) - offset):
            raise self.error(f"the {what} lies outside of the file")
        return memoryview(self.data)[offset : offset + size]

    def place(self, address: int, what: str) -> tuple[int, int]:
        """Return the file offset of an address, and how many bytes its segment has from there."""
        for load in self.loads:
            ahead = address - load.address
            if 0 <= ahead < load.file_size:
                offset = load.offset + ahead
                return offset, max(0, min(load.file_size - ahead, len(self.data) - offset))
        raise self.error(f"no segment holds the {what} at address {address:#x}")

    def words(self, address: int, count: int | None, code: str, what: str) -> Sequence[int]:
        """Return the integers (H, I or Q) from an address on: so many of them, or as many as the segment has."""
        offset, left = self.place(address, what)
        width = _WIDTHS[code]
        if count is None:
            count = left // width
        if not 0 <= count <= left // width:
            raise self.error(f"the {what} is longer than its segment")
        view = self.part(offset, count * width, what)
        if self.layout.little == _NATIVE_LITTLE:
            return view.cast(code)  # type: ignore[call-overload,no-any-return]
        swapped = array.array(code, bytes(view[: 4 << 20]))
        swapped.byteswap()
        return swapped

    def text(self, offset: int, end: int, what: str) -> bytes:
        """Return the bytes up to a NUL that must stand before `end`."""
        stop = self.data.find(b"\0", offset, end) if 0 <= offset < end else -1
        if stop < 0:
            raise self.error(f"the {what} has no end")
        return self.data[offset:stop]

    def _segments(self, start: int, size: int, count: int) -> tuple[Segment, ...]:
        record = self.layout.segment
        if count and size != record.size:
            raise self.error(f"program headers of {size} bytes")
        table = self.part(start, record.size * count, "program header table")
        return tuple(_segment(self.layout.bits, fields) for fields in record.iter_unpack(table))


def _segment(bits: int, fields: tuple[int, ...]) -> Segment:
    if bits == 64:
        kind, flags, offset, address, _, file_size, memory_size, align = fields
    else:
        kind, offset, address, _, file_size, memory_size, flags, align = fields
    return Segment(kind, flags, offset, address, file_size, memory_size, align)
