"""The folders that an interpreter looks for modules in, worked out from its files as its module `site` would."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from cvm.core.packages import SearchFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.elf.files import Files
    from cvm.host.installation import Installation
    from cvm.host.venv import Venv


class SearchPath(NamedTuple):
    """`sys.path`, and the `.pth` files whose code adds editable packages that can't be known without running it."""

    folders: tuple[SearchFolder, ...]
    unfollowed: tuple[str, ...]


def search_path(
    installation: Installation, venv: Venv | None, variables: Mapping[str, str], files: Files, folder: str
) -> SearchPath:
    """Work out `sys.path`, in its order.

    Left out: the first element of a running Python ("" or the script's folder), and of the standard library the zip and
    `lib-dynload`. What `sitecustomize` and code in `.pth` files add is not seen. Source: Lib/site.py of CPython.
    """
    path = _Path(files, folder, skip_dots=installation.skips_dots)
    for number, element in enumerate(_elements(variables.get("PYTHONPATH", ""))):
        path.add(element, f"PYTHONPATH[{number}]")
    if files.is_folder(installation.standard_library):
        path.add(installation.standard_library, "standard library")
    for site, origin in _sites(installation, venv, variables):
        path.add_site(site, origin)
    return SearchPath(tuple(path.found.values()), tuple(path.unfollowed))


def _elements(text: str) -> list[str]:
    return text.split(":") if text else []


def _sites(one: Installation, venv: Venv | None, variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Iterate over the folders that hold packages; a virtual environment's are before the user's."""
    in_venv = venv is not None and venv.prefix != one.prefixes[0]
    if venv:
        yield from _in_prefix(venv.prefix, one, in_venv=in_venv)
        if not venv.system_site:
            return
    if not variables.get("PYTHONNOUSERSITE"):
        yield from _user_site(one, variables)
        if one.fedora and "RPM_BUILD_ROOT" not in variables:
            yield from _in_prefix("/usr/local", one, in_venv=in_venv)
    for prefix in one.prefixes:
        yield from _in_prefix(prefix, one, in_venv=in_venv)


def _user_site(one: Installation, variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    base = variables.get("PYTHONUSERBASE")
    if not base and "HOME" in variables:
        base = variables["HOME"].rstrip("/") + "/.local"
    if base:
        yield posixpath.join(base, "lib", one.name, "site-packages"), "user site"


def _in_prefix(prefix: str, one: Installation, *, in_venv: bool) -> Iterator[tuple[str, str]]:
    libraries = dict.fromkeys((one.library, "lib"))
    kind = "dist-packages" if one.debian else "site-packages"
    if one.debian:
        if in_venv:
            yield posixpath.join(prefix, "lib", one.name, "site-packages"), "site-packages"
        yield posixpath.join(prefix, "local/lib", one.name, kind), kind
        yield posixpath.join(prefix, "lib/python3", kind), kind
    for library in libraries:
        yield posixpath.join(prefix, library, one.name, kind), kind


class _Path:
    """`sys.path` while it grows: no folder twice."""

    def __init__(self, files: Files, folder: str, *, skip_dots: bool) -> None:
        self.found: dict[str, SearchFolder] = {}
        self.unfollowed: list[str] = []
        self._files = files
        self._folder = folder
        self._skip_dots = skip_dots

    def add(self, path: str, origin: str) -> None:
        """Add a folder at the end, whether it is there or not."""
        path = posixpath.normpath(posixpath.join(self._folder, path))
        self.found.setdefault(path, SearchFolder(path, origin))

    def add_site(self, path: str, origin: str) -> None:
        """Add a folder of packages that is there, then what its `.pth` files name."""
        if not self._files.is_folder(posixpath.join(self._folder, path)):
            return
        self.add(path, origin)
        site = posixpath.normpath(posixpath.join(self._folder, path))
        for name in sorted(self._files.names(site)):
            if name.endswith(".pth") and not (self._skip_dots and name.startswith(".")):
                self._follow(site, posixpath.join(site, name))

    def _follow(self, site: str, pth: str) -> None:
        try:
            content = self._files.content(pth)
        except OSError:
            return
        for line in map(os.fsdecode, content.removeprefix(b"\xef\xbb\xbf").splitlines()):
            if line.startswith(("import ", "import\t")):
                if "__editable__" in line:
                    self.unfollowed.append(pth)
            elif line.strip() and line[0] != "#":
                path = posixpath.join(site, line.rstrip())
                if not isinstance(self._files.identity(path), int):
                    self.add(path, pth)
