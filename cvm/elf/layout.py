"""How the records of an ELF file lie in its bytes: by class (32 or 64 bits) and byte order."""

from __future__ import annotations

import functools
import struct
from typing import NamedTuple

# Machines by the number in the header.
X86, X86_64, AARCH64 = 3, 62, 183


class Layout(NamedTuple):
    """The record formats of one class and byte order."""

    bits: int
    little: bool
    header: struct.Struct
    segment: struct.Struct
    section: struct.Struct
    dynamic: struct.Struct
    symbol: struct.Struct
    rel: struct.Struct
    rela: struct.Struct


# The header, behind the identification: type machine version entry phoff shoff flags ehsize phentsize phnum …
_FORMATS = {
    64: ("16x2HI3QI6H", "2I6Q", "2I4Q2I2Q", "qQ", "I2BH2Q", "2Q", "2Qq"),
    32: ("16x2HI3II6H", "8I", "10I", "iI", "3I2BH", "2I", "2Ii"),
}


@functools.cache
def layout(bits: int, *, little: bool) -> Layout:
    """Return the formats of a class and byte order."""
    mark = "<" if little else ">"
    return Layout(bits, little, *(struct.Struct(mark + text) for text in _FORMATS[bits]))
