"""One ELF file: its parts, each read when it is first asked for."""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING

from cvm.elf.dynamic import read_dynamic
from cvm.elf.hashes import gnu_hash
from cvm.elf.image import PT_INTERP, Image
from cvm.elf.names import dlopen_names
from cvm.elf.relocations import references
from cvm.elf.symbols import Symbols
from cvm.elf.versions import Versions, read_versions

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator, Mapping

    from cvm.elf.dynamic import Dynamic
    from cvm.elf.relocations import Reference
    from cvm.elf.symbols import Undefined

_MUSL = re.compile(r"(^|/)(ld-musl-[^/]*\.so\.1|libc\.musl-[^/]*\.so\.1|libc\.so)$")


class Elf:
    """An ELF file by its bytes; whatever is wrong with them is an ElfError when the part is asked for."""

    def __init__(self, data: bytes | mmap.mmap, name: str) -> None:
        self.data = data
        self.name = name

    @cached_property
    def image(self) -> Image:
        """Header and program headers."""
        return Image(self.data, self.name)

    @cached_property
    def dynamic(self) -> Dynamic | None:
        """The dynamic section; None for a file that has none."""
        return read_dynamic(self.image)

    @cached_property
    def tags(self) -> Mapping[int, int]:
        """The entries of the dynamic section by tag."""
        return self.dynamic.tags if self.dynamic else {}

    @cached_property
    def interpreter(self) -> str | None:
        """The loader that a program names."""
        for part in self.image.segments:
            if part.kind == PT_INTERP:
                end = part.offset + part.file_size
                return os.fsdecode(self.image.text(part.offset, end, "interpreter's name"))
        return None

    @cached_property
    def versions(self) -> Versions:
        """The version tables."""
        return read_versions(self.image, self.tags)

    @cached_property
    def symbols(self) -> Symbols:
        """The dynamic symbol table; a file without a dynamic section has none, which is an ElfError."""
        return Symbols(self.image, self.tags, self.versions)

    @cached_property
    def undefined(self) -> tuple[Undefined, ...]:
        """What the file wants from others."""
        if not self.tags:
            return ()
        return tuple(self.symbols.undefined(self._last_referenced, everywhere=self.interpreter is not None))

    @cached_property
    def dlopen_names(self) -> tuple[str, ...]:
        """Names of libraries in its read-only data: reads all of that."""
        return dlopen_names(self.image)

    @property
    def musl(self) -> bool:
        """Whether the file is made for musl's loader, which follows other rules."""
        needed = self.dynamic.needed if self.dynamic else ()
        return any(_MUSL.search(name) for name in (self.interpreter or "", *needed))

    def _last_referenced(self) -> int:
        return max((one.symbol for one in self.references()), default=0)

    def references(self) -> Iterator[Reference]:
        """Iterate over the symbols that the relocations name, in the loader's order."""
        return references(self.image, self.tags)

    def defines(self, name: str, version: str | None = None) -> bool:
        """Whether the loader would bind a reference by this name and version to this file."""
        text = os.fsencode(name)
        return self.symbols.defines(text, gnu_hash(text), None if version is None else os.fsencode(version))

    def address(self, name: str) -> int | None:
        """Return the address of a symbol that the file offers, None where it offers none of that name."""
        text = os.fsencode(name)
        return self.symbols.address(text, gnu_hash(text)) if self.tags else None

    def at(self, address: int, size: int) -> bytes:
        """Return bytes by their address, fewer where their segment ends."""
        offset, left = self.image.place(address, "bytes")
        return bytes(self.data[offset : offset + min(size, left)])
