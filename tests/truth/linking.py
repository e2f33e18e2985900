"""Builds the stand-ins of a whole release with gcc."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from typing import TYPE_CHECKING

from tests.truth.contents import code_of, uses_libc

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.truth.contents import Versions
    from tests.truth.facts import Library

_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
_GCC = ("gcc", "-shared", "-fPIC", "-O1", "-w", "-nostdlib", "-x", "c", "-", "-x", "none")
_AS_TOLD = ("-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined")


class Build:
    """Libraries that are linked with each other, below one folder; `twins` has what only the linker needs."""

    def __init__(self, folder: Path, twins: Path, libraries: Iterable[Library], versions: Versions, rpath: str = ""):
        self.folder = folder
        self.twins = twins
        self.libraries = {library.name: library for library in libraries}
        self.versions = versions
        self.rpath = rpath
        self.made: dict[str, Path] = {}

    def make_all(self) -> None:
        """Build every library, each after those that it needs."""
        for name in self.libraries:
            self._make(name)

    def _make(self, name: str) -> Path:
        """Build a library, and return what others have to be linked with to need it by this name."""
        if name not in self.made:
            library = self.libraries.get(name)
            self.made[name] = self._made(library) if library else _link(self.twins / name, "", _soname(name))
        return self.made[name]

    def _made(self, library: Library) -> Path:
        code = code_of(library, self.versions)
        target = self.folder / (library.path + _SUFFIX if library.name == "_C" else library.path)
        script = self._script(library)
        _link(target, code, [*script, *_soname(library.soname), *self._dynamic(library)])
        if library.soname in ("", library.name):
            return target
        # A file that was renamed, and tells nothing of it: those that need it have the new name.
        return _link(self.twins / library.name, code, [*script, *_soname(library.name)])

    def _dynamic(self, library: Library) -> list[str]:
        words = [str(self._make(needed.name)) for needed in library.needs]
        if library.path.startswith("torch/"):
            own = ":$ORIGIN/lib" if library.name == "_C" else ""
            words += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{self.rpath}{own}"]
        elif library.runpath is not None:
            words += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{library.runpath}"]
        return words

    def _script(self, library: Library) -> list[str]:
        if not library.node:
            return []
        script = self.twins / f"{library.name}.map"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"{library.node} {{ global: *; }};\n")
        return [f"-Wl,--version-script={script}"]


def spell_out(folder: Path, version: str = "") -> None:
    """Give the libraries of a folder their links, as a toolkit has them, and the files a whole version if there is one."""
    for path in sorted(folder.glob("*.so.*")):
        if version:
            whole = path.with_name(f"{path.name.partition('.so')[0]}.so.{version}")
            path.rename(whole)
            path.symlink_to(whole.name)
        path.with_name(re.sub(r"\.so\..*", ".so", path.name)).symlink_to(path.name)


def _soname(name: str) -> list[str]:
    return [f"-Wl,-soname,{name}"] if name else []


def _link(target: Path, code: str, words: list[str]) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    libc = ["-Wl,--as-needed", "-ldl", "-lc"] if uses_libc(code) else []
    command = [*_GCC, *_AS_TOLD, *words, *libc, "-o", str(target)]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target
