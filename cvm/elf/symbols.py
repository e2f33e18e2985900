"""The dynamic symbol table: one symbol by its hash, without reading the others, and those a file leaves undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.dynamic import SYMTAB, string_table
from cvm.elf.hashes import hash_table
from cvm.elf.versions import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cvm.elf.image import Image
    from cvm.elf.versions import Versions

    # Name, info, visibility, section and value of a symbol.
    Fields = tuple[int, int, int, int, int]

WEAK = 2
_LOCAL = 0
_TLS = 6
_ABSOLUTE = 0xFFF1
# No type, object, function, common, thread-local, indirect function: the only types that the loader binds to.
_TYPES = {0, 1, 2, 5, 6, 10}
_BINDINGS = {1, 2, 10}
_LOCAL_VISIBILITY = {1, 2}


class Undefined(NamedTuple):
    """A symbol that a file wants from another one; `file` is the library that its version is needed from."""

    number: int
    name: bytes
    version: bytes | None
    file: bytes | None
    weak: bool
    kind: int
    hidden: bool


class Defined(NamedTuple):
    """A symbol that a file offers, its version, and whether the version is the default one of that name."""

    number: int
    name: bytes
    version: bytes | None
    default: bool
    weak: bool
    kind: int


class Symbols:
    """The symbol table of one file."""

    def __init__(self, image: Image, tags: Mapping[int, int], versions: Versions) -> None:
        self.image = image
        self.versions = versions
        self._data = image.data
        self._record = image.layout.symbol
        self._start, self._left = image.place(tags[SYMTAB], "symbol table") if SYMTAB in tags else (0, 0)
        self._strings, self._strings_end = string_table(image, tags)
        self._hash = hash_table(image, tags)

    def defines(self, name: bytes, hashed: int, version: bytes | None, *, hidden: bool = False) -> bool:
        """Whether the loader would bind a reference by this name (its GNU hash beside it) and version to this file."""
        several = 0
        for index in self._hash.candidates(name, hashed):
            fields = self._fields(index)
            if self._is_named(fields, name) and _offers(fields):
                fit = self._fit(index, version, hidden=hidden)
                if fit:
                    return True
                several += fit is None
        # A reference without a version takes the only versioned definition there is.
        return several == 1

    def address(self, name: bytes, hashed: int) -> int | None:
        """Return the address of what the file offers by a name (its GNU hash beside it), None for what it does not."""
        for index in self._hash.candidates(name, hashed):
            fields = self._fields(index)
            if self._is_named(fields, name) and _offers(fields):
                return fields[4]
        return None

    def undefined(self, referenced: Callable[[], int], *, everywhere: bool = False) -> Iterator[Undefined]:
        """Iterate over what the file wants from others; `everywhere` looks behind the hashed symbols too.

        Linkers put undefined symbols first; only a program may have them among its hashed, defined ones.
        Where no symbol is hashed, those count that `referenced` reaches up to: the last one that a relocation names.
        """
        count = self._hash.size() if everywhere else self._hash.first
        if self._hash.is_empty:
            count = max(count, referenced() + 1)
        for index, name, info, other, section, _ in self._entries(1, count):
            if section == 0 and info >> 4 != _LOCAL and other & 3 not in _LOCAL_VISIBILITY:
                version = self.version(index)
                yield Undefined(index, name, *version[:2], info >> 4 == WEAK, info & 15, version[2])

    def defined(self) -> Iterator[Defined]:
        """Iterate over what the file offers: reads the whole table."""
        numbers = self.versions.symbols
        for index, name, info, _, _, _ in self._entries(1, self._hash.size()):
            if _offers(self._fields(index)):
                shown = not (numbers is not None and numbers[index] & HIDDEN)
                yield Defined(index, name, self.version(index)[0], shown, info >> 4 == WEAK, info & 15)

    def version(self, index: int) -> tuple[bytes | None, bytes | None, bool]:
        """Return a symbol's version, the file that it is needed from, and whether only that very version fits."""
        numbers = self.versions.symbols
        if numbers is None:
            return None, None, False
        if index >= len(numbers):
            raise self.image.error("the symbol version table is too short")
        found = self.versions.by_index.get(numbers[index] & ~HIDDEN)
        return (None, None, False) if found is None else (found.name, found.file, found.hidden)

    def name(self, index: int) -> bytes:
        """Return a symbol's name."""
        return self.image.text(self._strings + self._fields(index)[0], self._strings_end, "name of a symbol")

    def _fields(self, index: int) -> Fields:
        """Return name, info, visibility, section and value of a symbol."""
        size = self._record.size
        if not 0 <= index < self._left // size:
            raise self.image.error(f"symbol {index} lies outside of the symbol table")
        fields = self._record.unpack_from(self._data, self._start + index * size)
        return fields[:5] if size == 24 else _reordered(fields)

    def _entries(self, first: int, end: int) -> Iterator[tuple[int, bytes, int, int, int, int]]:
        size = self._record.size
        if end <= first:
            return
        if end > self._left // size:
            raise self.image.error("the symbol table is longer than its segment")
        table = self.image.part(self._start + first * size, (end - first) * size, "symbol table")
        text, strings, strings_end = self.image.text, self._strings, self._strings_end
        for index, fields in enumerate(self._record.iter_unpack(table), first):
            name, info, other, section, value, *_ = fields if size == 24 else _reordered(fields)
            yield index, text(strings + name, strings_end, "name of a symbol"), info, other, section, value

    def _is_named(self, fields: Fields, name: bytes) -> bool:
        start = self._strings + fields[0]
        return start < self._strings_end and self._data[start : start + len(name) + 1] == name + b"\0"

    def _fit(self, index: int, version: bytes | None, *, hidden: bool) -> bool | None:
        """Whether a definition's version answers a reference; None for one that fits only if it is the only one."""
        numbers = self.versions.symbols
        if numbers is None:
            return True
        if index >= len(numbers):
            raise self.image.error("the symbol version table is too short")
        number = numbers[index]
        if version is None:
            return True if number & ~HIDDEN < 3 else (False if number & HIDDEN else None)
        own = self.versions.by_index.get(number & ~HIDDEN)
        if own is not None:
            return own.name == version
        return not (hidden or number & HIDDEN)


def _offers(fields: Fields) -> bool:
    """Whether a symbol can be bound to at all, as glibc's check_match and its callers see it."""
    _, info, other, section, value = fields
    kind = info & 15
    if section == 0 or (value == 0 and section != _ABSOLUTE and kind != _TLS):
        return False
    return kind in _TYPES and info >> 4 in _BINDINGS and other & 3 not in _LOCAL_VISIBILITY


def _reordered(fields: tuple[int, ...]) -> Fields:
    """Put the fields of a 32-bit symbol in the order of a 64-bit one."""
    name, value, _, info, other, section = fields
    return name, info, other, section, value
