"""A file in the modelled process, as the loader's link map knows it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from cvm.elf.outcome import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.elf.dynamic import Dynamic
    from cvm.elf.elf import Elf
    from cvm.elf.files import Identity
    from cvm.elf.found import Found


class Mapped:
    """One file in the process; the model changes it, callers get `Loaded` values."""

    __slots__ = (
        "elf",
        "found",
        "identity",
        "in_global",
        "loader",
        "name",
        "names",
        "needed",
        "origin",
        "path",
        "relocated",
        "requester",
        "searchlist",
        "shown",
    )

    def __init__(self, path: str, elf: Elf, found: Found, *, name: str, folder: str) -> None:
        self.path = path
        self.elf = elf
        self.found = found
        self.name = name
        # The loader resolves no links here: the folder is the one that the path spells.
        self.origin = posixpath.dirname(posixpath.join(folder, path))
        self.names = [name, path]
        self.shown = path
        self.identity: Identity | None = None
        self.requester: Mapped | None = None
        # Whose RPATH counts for what this file needs, and so on upwards.
        self.loader: Mapped | None = None
        self.needed: list[Mapped] | None = None
        self.searchlist: tuple[Mapped, ...] | None = None
        self.in_global = False
        self.relocated = False

    @property
    def dynamic(self) -> Dynamic | None:
        """The file's dynamic section."""
        return self.elf.dynamic

    @property
    def soname(self) -> str | None:
        """The name that the file gives itself."""
        return self.dynamic.soname if self.dynamic else None

    def chain(self) -> Iterator[Mapped]:
        """Iterate over this file and its loaders upwards."""
        one: Mapped | None = self
        while one is not None:
            yield one
            one = one.loader

    def value(self) -> Loaded:
        """Return what callers get to see."""
        by = self.requester.path if self.requester else None
        return Loaded(self.path, self.soname, self.name, self.found, by, self.identity)
