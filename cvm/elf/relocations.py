"""Which symbols a file's relocations name, in the order in which glibc works through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.dynamic import JMPREL, PLTREL, PLTRELSZ, REL, RELA, RELACOUNT, RELASZ, RELCOUNT, RELSZ
from cvm.elf.layout import AARCH64, X86, X86_64

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.elf.image import Image

_FUNCTION_SLOT = {X86: 7, X86_64: 7, AARCH64: 1026}
_NONE = {0, 256}


class Reference(NamedTuple):
    """A symbol that a relocation names; only a call through the PLT may wait until it is made."""

    symbol: int
    lazy: bool


def references(image: Image, tags: Mapping[int, int]) -> Iterator[Reference]:
    """Iterate over the symbols that a file's relocations name: its data first, then its calls, as glibc does."""
    slot = _FUNCTION_SLOT.get(image.machine)
    for with_addend, start, size, skipped, lazy in _tables(tags):
        record = image.layout.rela if with_addend else image.layout.rel
        if not size // record.size:
            continue
        offset, left = image.place(start, "relocation table")
        if size > left:
            raise image.error("the relocation table is longer than its segment")
        skip = min(skipped, size // record.size) * record.size
        table = image.part(offset + skip, (size - skip) // record.size * record.size, "relocation table")
        shift, mask = (32, 0xFFFFFFFF) if image.layout.bits == 64 else (8, 0xFF)
        for fields in record.iter_unpack(table):
            info = fields[1]
            if info >> shift and info & mask not in _NONE:
                yield Reference(info >> shift, lazy and info & mask == slot)


def _tables(tags: Mapping[int, int]) -> Iterator[tuple[bool, int, int, int, bool]]:
    """Yield (with addends, address, size, relative entries in front, of the PLT) for each table."""
    calls, calls_size = tags.get(JMPREL, 0), tags.get(PLTRELSZ, 0) if JMPREL in tags else 0
    for tag, size_tag, count_tag in ((REL, RELSZ, RELCOUNT), (RELA, RELASZ, RELACOUNT)):
        start, size = tags.get(tag, 0), tags.get(size_tag, 0)
        # Some linkers count the PLT's relocations in, at the end.
        if size and calls_size and start + size == calls + calls_size:
            size -= calls_size
        if tag in tags:
            yield tag == RELA, start, size, tags.get(count_tag, 0), False
    if calls_size:
        yield tags.get(PLTREL) == RELA, calls, calls_size, 0, True
