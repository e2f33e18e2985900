"""Where an import finds a module: the finders of Python's own, by the files alone."""

from __future__ import annotations

import posixpath
import sys
from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.script.constants import constants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.elf.files import Files

MACHINES = {62: "x86_64", 183: "aarch64", 22: "s390x", 21: "powerpc64le", 243: "riscv64"}


class Source(NamedTuple):
    """Where a module is: its file (None for a folder without `__init__.py`) and, of a package, its folder."""

    file: str | None
    folder: str | None = None

    @property
    def is_extension(self) -> bool:
        """Whether the module is a shared library."""
        return self.file is not None and self.file.endswith(".so")


class Finder:
    """Finds modules in folders, for one release of Python on one machine."""

    def __init__(self, files: Files, search: Sequence[str], version: tuple[int, int] | None, machine: int) -> None:
        self.files = files
        self.search = search
        self._version = version
        self._machine = MACHINES.get(machine, "")
        self._names: dict[str, frozenset[str]] = {}

    def names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder, listed once."""
        known = self._names.get(folder)
        if known is None:
            known = self._names[folder] = frozenset(self.files.names(folder))
        return known

    def package(self, name: str) -> str | None:
        """Return the folder of a top-level package."""
        found = self.find(name, self.search)
        return None if found is None else found.folder

    def find(self, name: str, folders: Sequence[str]) -> Source | None:
        """Return where the last part of a module's name is in the first folder that has it."""
        last = name.rpartition(".")[2]
        portion: str | None = None
        for folder in folders:
            found = self._in(folder, last)
            if found is not None and (found.file is not None or found.folder is None):
                return found
            if found is not None and portion is None:
                portion = found.folder
        if portion is not None:
            return Source(None, portion)
        return self._edited(name) if folders is self.search else None

    def _edited(self, name: str) -> Source | None:
        """Look into the table of an editable install that setuptools made, whose import hook knows the folders."""
        for folder in self.search:
            for hook in self.names(folder):
                if hook.startswith("__editable__") and hook.endswith("_finder.py"):
                    table = constants(self.files, posixpath.join(folder, hook)).get("MAPPING")
                    path = table.get(name) if isinstance(table, dict) else None
                    if isinstance(path, str):
                        return self._in(posixpath.dirname(path), posixpath.basename(path))
        return None

    def _in(self, folder: str, last: str) -> Source | None:
        """Look as `importlib.machinery.FileFinder` does: package, extension module, source, bare folder."""
        names = self.names(folder)
        inner = posixpath.join(folder, last)
        if last in names and "__init__.py" in self.names(inner):
            return Source(posixpath.join(inner, "__init__.py"), inner)
        for suffix in self._suffixes(last, names):
            if last + suffix in names:
                return Source(inner + suffix)
        if last + ".py" in names:
            return Source(inner + ".py")
        return Source(None, inner) if last in names and self.files.is_folder(inner) else None

    def _suffixes(self, last: str, names: frozenset[str]) -> list[str]:
        """Return the endings of extension modules, of which a build of Python has exactly one with its version.

        https://docs.python.org/3/library/importlib.html#importlib.machinery.EXTENSION_SUFFIXES
        """
        exact: list[str] = []
        if self._version is not None:
            start = f"{last}.cpython-{self._version[0]}{self._version[1]}"
            # "t" is a build without the lock, "d" one for debugging.
            tags = (start + "-", start + "t-", start + "d-", start + "td-")
            exact = sorted(
                one[len(last) :]
                for one in names
                if one.startswith(tags) and one.endswith(".so") and self._machine in one
            )
        return [*exact, ".abi3.so", ".so"]

    def is_elsewhere(self, name: str) -> bool | None:
        """Whether a top-level module can be imported; None where an import hook or an archive may have it."""
        if name in sys.stdlib_module_names or name in sys.builtin_module_names or name == "__main__":
            return True
        if self.find(name, self.search) is not None:
            return True
        for folder in self.search:
            if any(one.startswith("__editable__") or one.endswith(".egg") for one in self.names(folder)):
                return None
            if not self.files.is_folder(folder) and not isinstance(self.files.identity(folder), int):
                return None
        return False
