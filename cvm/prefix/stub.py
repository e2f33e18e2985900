"""Writing a stub: a tiny shared library that gives the linker the driver's symbols.

Machines without a driver can't link `-lcuda` otherwise. NVIDIA's archives hold such stubs, its wheels do not, and a
user may have no compiler to make one. Every function returns one constant, an error code.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADER = 64 + 4 * 56
# The writable segment is mapped this much higher than it lies in the file: arm64's pages have up to 64 KiB.
_PAGE = 0x10000

_PROGBITS, _STRTAB, _HASH, _DYNAMIC, _DYNSYM = 1, 3, 5, 6, 11
_WRITE, _ALLOC, _EXEC = 1, 2, 4
_TEXT_SECTION = 4
_FUNC_GLOBAL = 0x12


@dataclass(frozen=True, slots=True)
class Machine:
    """An instruction set: ELF's number for it, and how it spells a function that returns a constant."""

    number: int
    opcode: int
    shift: int
    rest: bytes

    def function(self, value: int) -> bytes:
        """Assemble `return value`, for a small constant."""
        return struct.pack("<I", self.opcode | value << self.shift) + self.rest


# mov eax, value; ret
X86_64 = Machine(62, 0xB8, 8, b"\x00\xc3")
# mov w0, value; ret
AARCH64 = Machine(183, 0x52800000, 5, b"\xc0\x03\x5f\xd6")

MACHINES = {"linux-x86_64": X86_64, "linux-sbsa": AARCH64, "linux-aarch64": AARCH64}


def stub_library(soname: str, functions: Sequence[str], machine: Machine, value: int) -> bytes:
    """Return a shared library whose functions all return `value`."""
    names = sorted(set(functions))
    strings, at = _string_table([soname, *names])
    hashes, code = _hash_table(names), machine.function(value)
    at_symbols = _aligned(_HEADER + len(hashes))
    at_strings = at_symbols + 24 * (len(names) + 1)
    at_code = _aligned(at_strings + len(strings))
    at_dynamic = _aligned(at_code + len(code))
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", at[name], _FUNC_GLOBAL, 0, _TEXT_SECTION, at_code, len(code)) for name in names
    )
    dynamic = _dynamic(at[soname], _HEADER, at_strings, at_symbols, len(strings))
    sections = (
        _Section(".hash", _HASH, _ALLOC, _HEADER, hashes, link=2, entry=4),
        _Section(".dynsym", _DYNSYM, _ALLOC, at_symbols, symbols, link=3, info=1, entry=24),
        _Section(".dynstr", _STRTAB, _ALLOC, at_strings, strings),
        _Section(".text", _PROGBITS, _ALLOC | _EXEC, at_code, code),
        _Section(".dynamic", _DYNAMIC, _ALLOC | _WRITE, at_dynamic, dynamic, link=3, entry=16),
    )
    return _file(machine, sections)


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    data: bytes
    link: int = 0
    info: int = 0
    entry: int = 0

    @property
    def end(self) -> int:
        return self.offset + len(self.data)

    @property
    def address(self) -> int:
        if not self.flags & _ALLOC:
            return 0
        return self.offset + (_PAGE if self.flags & _WRITE else 0)

    def header(self, name: int) -> bytes:
        align = 8 if self.flags else 1
        numbers = (self.flags, self.address, self.offset, len(self.data), self.link, self.info, align, self.entry)
        return struct.pack("<IIQQQQIIQQ", name, self.kind, *numbers)


def _file(machine: Machine, sections: tuple[_Section, ...]) -> bytes:
    dynamic = sections[-1]
    text, names = _string_table([*(section.name for section in sections), ".shstrtab"])
    everything = (*sections, _Section(".shstrtab", _STRTAB, 0, dynamic.end, text))
    image = bytearray(_aligned(everything[-1].end))
    for section in everything:
        image[section.offset : section.end] = section.data
    table = bytes(64) + b"".join(section.header(names[section.name]) for section in everything)
    count = len(everything) + 1
    image[:_HEADER] = _elf_header(machine, len(image), count) + _segments(dynamic)
    return bytes(image) + table


def _elf_header(machine: Machine, at_sections: int, sections: int) -> bytes:
    # 64 bits, little endian, a shared object
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    numbers = (3, machine.number, 1, 0, 64, at_sections, 0, 64, 56, 4, 64, sections, sections - 1)
    return identity + struct.pack("<HHIQQQIHHHHHH", *numbers)


def _segments(dynamic: _Section) -> bytes:
    size, at = len(dynamic.data), dynamic.offset
    return b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, length, length, align)
        for kind, flags, offset, address, length, align in (
            (1, 5, 0, 0, at, _PAGE),
            (1, 6, at, dynamic.address, size, _PAGE),
            (2, 6, at, dynamic.address, size, 8),
            # PT_GNU_STACK: without it the loader makes the stack of the whole process executable.
            (0x6474E551, 6, 0, 0, 0, 16),
        )
    )


def _dynamic(soname: int, at_hash: int, at_strings: int, at_symbols: int, strings: int) -> bytes:
    # DT_SONAME, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, DT_NULL
    pairs = ((14, soname), (4, at_hash), (5, at_strings), (6, at_symbols), (10, strings), (11, 24), (0, 0))
    return b"".join(struct.pack("<QQ", *pair) for pair in pairs)


def _hash_table(names: Sequence[str]) -> bytes:
    size = max(1, len(names))
    buckets, chains = [0] * size, [0] * (len(names) + 1)
    for index, name in enumerate(names, start=1):
        bucket = _hash(name) % size
        buckets[bucket], chains[index] = index, buckets[bucket]
    return struct.pack(f"<II{size + len(chains)}I", size, len(chains), *buckets, *chains)


def _hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _string_table(texts: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    data, offsets = bytearray(b"\0"), {}
    for text in texts:
        offsets[text] = len(data)
        data += text.encode() + b"\0"
    return bytes(data), offsets


def _aligned(offset: int) -> int:
    return (offset + 15) // 16 * 16
