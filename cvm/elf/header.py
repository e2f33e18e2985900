"""The loader's look at a file's header: usable, skipped without a word, or the end of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.image import ET_DYN, ET_EXEC
from cvm.elf.layout import layout

if TYPE_CHECKING:
    from cvm.elf.elf import Elf
    from cvm.elf.runtime import Runtime

_MAGIC = b"\x7fELF"
_SYSTEM_V, _GNU, _NEWEST_ABI = 0, 3, 3
_PADDING = b"\0" * 7
_PAGE = 4096
# By the loader's own class: what it calls a file of the other one.
_OTHER = {1: "ELFCLASS64", 2: "ELFCLASS32"}


class Verdict(NamedTuple):
    """What the loader makes of a file: `fatal` is its text; a file of another class or machine is only skipped."""

    usable: bool
    fatal: str | None = None
    other_class: str | None = None


def judge(elf: Elf, runtime: Runtime) -> Verdict:
    """Look at a file as glibc does before it maps it."""
    form = layout(runtime.bits, little=runtime.little)
    start = elf.data[: form.header.size]
    if len(start) < form.header.size:
        return Verdict(usable=False, fatal="file too short")
    own_class = 2 if runtime.bits == 64 else 1
    if start[:4] == _MAGIC and start[4] != own_class:
        return Verdict(usable=False, other_class=_OTHER[own_class])
    wrong = _wrong_identification(start, runtime)
    fields = form.header.unpack(start)
    if wrong is None and fields[2] != 1:
        wrong = "ELF file version does not match current one"
    if wrong is None and fields[1] != runtime.machine:
        return Verdict(usable=False)
    wrong = wrong or _wrong_table(fields, form.segment.size, len(elf.data))
    return Verdict(usable=wrong is None, fatal=wrong)


def unmappable(elf: Elf) -> str | None:
    """Return why a file with a usable header can't be opened as a library, in the loader's words."""
    image = elf.image
    if any((load.address - load.offset) % _PAGE for load in image.loads):
        return "ELF load command address/offset not page-aligned"
    if not image.loads:
        return "object file has no loadable segments"
    if image.kind != ET_DYN:
        return "cannot dynamically load executable"
    if elf.dynamic is None:
        return "object file has no dynamic section"
    if elf.dynamic.is_program:
        return "cannot dynamically load position-independent executable"
    return None


def cut_off(elf: Elf) -> bool:
    """Whether the file ends before its segments do: touching them would end the process."""
    size = -(-len(elf.data) // _PAGE) * _PAGE
    return any(load.offset + load.file_size > size for load in elf.image.loads)


def _wrong_identification(start: bytes, runtime: Runtime) -> str | None:
    checks = (
        (start[:4] == _MAGIC, "invalid ELF header"),
        (start[5] == (1 if runtime.little else 2), f"ELF file data encoding not {_order(runtime)}-endian"),
        (start[6] == 1, "ELF file version ident does not match current one"),
        (start[7] in (_SYSTEM_V, _GNU), "ELF file OS ABI invalid"),
        (start[8] <= (_NEWEST_ABI if start[7] == _GNU else 0), "ELF file ABI version invalid"),
        (start[9:16] == _PADDING, "nonzero padding in e_ident"),
    )
    return next((text for fits, text in checks if not fits), None)


def _order(runtime: Runtime) -> str:
    return "little" if runtime.little else "big"


def _wrong_table(fields: tuple[int, ...], segment: int, length: int) -> str | None:
    kind, offset, size, count = fields[0], fields[4], fields[8], fields[9]
    if kind not in (ET_EXEC, ET_DYN):
        return "only ET_DYN and ET_EXEC can be loaded"
    if size != segment:
        return "ELF file's phentsize not the expected size"
    return "cannot read file data" if offset + size * count > length else None
