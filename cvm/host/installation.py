"""Where the standard library of an interpreter lies, which tells its version and whose rules of packages it follows."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.error import ElfError
from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.elf.files import Files
    from cvm.host.venv import Venv

_NAME = re.compile(r"(python|pypy)([0-9])\.([0-9]+)(t?)")
_NUMBERS = re.compile(r"([0-9])\.([0-9]+)")
_LIBPYTHON = re.compile(r"libpython([0-9]\.[0-9]+t?)")

# `lib64` is `sys.platlibdir` of Fedora and its kin; elsewhere it may be a link to `lib`, which is therefore first.
_LIBRARY_FOLDERS = ("lib", "lib64")
_LANDMARKS = ("os.py", "os.pyc")


class Installation(NamedTuple):
    """An installed Python: `prefixes` are those of plain and of compiled modules, mostly one.

    `name` is the folder of its version: `python3.11`, `python3.13t` without the lock, `pypy3.10`.
    `site` is the text of its module `site`, "" where it can't be read.
    """

    prefixes: tuple[str, ...]
    library: str
    name: str
    site: str

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version."""
        found = _NAME.match(self.name)
        assert found is not None
        return int(found[2]), int(found[3])

    @property
    def standard_library(self) -> str:
        """Its folder, whether there is one or not."""
        return posixpath.join(self.prefixes[0], self.library, self.name)

    @property
    def debian(self) -> bool:
        """Whether packages lie in `dist-packages`, as in Debian and Ubuntu."""
        return "dist-packages" in self.site

    @property
    def fedora(self) -> bool:
        """Whether `/usr/local` is searched as well, as in Fedora and Red Hat."""
        return 'PREFIXES.insert(0, "/usr/local")' in self.site

    @property
    def skips_dots(self) -> bool:
        """Whether a `.pth` file whose name starts with a dot is passed over, as in 3.13."""
        return 'not name.startswith(".")' in self.site


def find_installation(executable: str, venv: Venv | None, home: str, files: Files) -> Installation:
    """Find the installation behind an interpreter as CPython does; `home` is PYTHONHOME.

    From the folder of the program upwards, the first with `lib/python3.11/os.py`; of a virtual environment, from the
    folder that its `home` names. Raises UsageError where no version can be told.
    Source: Modules/getpath.py of CPython 3.11, which says what the C code before it did.
    """
    program = files.real(executable)
    start = venv.home if venv and venv.home else _folder_of(executable, program, files)
    real = posixpath.dirname(program)
    name = _versioned(program, venv) or _linked(program, files) or _newest(start, files) or _newest(real, files)
    if name is None:
        raise UsageError(f"`{executable}` does not tell which version of Python it is", hint="name an interpreter")
    prefixes = tuple(filter(None, home.split(":")))
    if prefixes:
        library = _library(prefixes[0], name, files) or "lib"
    else:
        prefix, library = _search_up((start, real), name, files) or (posixpath.dirname(start), "lib")
        prefixes = (prefix,)
    return _with_site(Installation(prefixes, library, name, ""), files)


def _folder_of(executable: str, program: str, files: Files) -> str:
    """Return the program's folder; only the link of the program itself is followed, not those of its folders."""
    folder = posixpath.dirname(executable)
    real = posixpath.dirname(program)
    return folder if files.real(folder) == real else real


def _versioned(program: str, venv: Venv | None) -> str | None:
    named = _NAME.match(posixpath.basename(program))
    if named:
        return named[0]
    told = _NUMBERS.match(venv.version) if venv else None
    return f"python{told[0]}" if told else None


def _linked(program: str, files: Files) -> str | None:
    """Return the version of the `libpython3.11.so.1.0` that a program needs."""
    try:
        dynamic = files.elf(program).dynamic
    except (OSError, ElfError):
        return None
    found = filter(None, map(_LIBPYTHON.match, dynamic.needed if dynamic else ()))
    return next((f"python{one[1]}" for one in found), None)


def _newest(start: str, files: Files) -> str | None:
    for prefix in _upwards(start):
        folders = [posixpath.join(prefix, library) for library in _LIBRARY_FOLDERS]
        names = {
            name
            for folder in folders
            for name in files.names(folder)
            if _NAME.fullmatch(name) and _is_library(posixpath.join(folder, name), files)
        }
        if names:
            return max(names, key=_order)
    return None


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall("[0-9]+", name))


def _search_up(starts: tuple[str, ...], name: str, files: Files) -> tuple[str, str] | None:
    for start in starts:
        for prefix in _upwards(start):
            library = _library(prefix, name, files)
            if library:
                return prefix, library
    return None


def _library(prefix: str, name: str, files: Files) -> str | None:
    return next((one for one in _LIBRARY_FOLDERS if _is_library(posixpath.join(prefix, one, name), files)), None)


def _upwards(folder: str) -> Iterator[str]:
    # The root itself is not looked into: /bin/python3 finds /usr by its compiled-in prefix.
    while folder not in ("", "/"):
        yield folder
        folder = posixpath.dirname(folder)


def _is_library(folder: str, files: Files) -> bool:
    return any(not isinstance(files.identity(posixpath.join(folder, mark)), int) for mark in _LANDMARKS)


def _with_site(one: Installation, files: Files) -> Installation:
    try:
        text = files.content(posixpath.join(one.standard_library, "site.py")).decode(errors="replace")
    except OSError:
        return one
    return one._replace(site=text)
