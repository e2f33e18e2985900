"""A Python environment, read from its files: nothing of it is started, but a wrapper that hides its interpreter."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.core.packages import PythonEnvironment
from cvm.elf.files import Disk
from cvm.errors import UsageError
from cvm.host.distributions import distributions
from cvm.host.installation import find_installation
from cvm.host.python import behind_wrapper
from cvm.host.search_path import search_path
from cvm.host.venv import read_venv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.elf.files import Files

_INTERPRETERS = ("bin/python3", "bin/python", "bin/pypy3")
_PYTHONS = ("python", "pypy")


def read_environment(
    executable: str, variables: Mapping[str, str], files: Files, folder: str = "/"
) -> PythonEnvironment:
    """Read the environment of an interpreter, as it would start with these variables in this folder.

    The search path is that of `python -c`, without its first element; see `search_path` for what else is left out.
    Of a wrapper such as a shim of pyenv's, the interpreter behind it is read; the wrapper is asked where no file tells.
    Raises UsageError for what is no interpreter.
    """
    executable = _interpreter(posixpath.normpath(posixpath.join(folder, executable)), variables, files, folder)
    venv = read_venv(executable, files)
    installation = find_installation(executable, venv, variables.get("PYTHONHOME", ""), files)
    prefix = venv.prefix if venv else installation.prefixes[0]
    path = search_path(installation, venv, variables, files, folder)
    return PythonEnvironment(
        executable,
        files.real(executable),
        prefix,
        installation.version,
        path.folders,
        distributions(path.folders, prefix, files),
        path.unfollowed,
    )


def find_environment(target: str, files: Files, folder: str = "/") -> str:
    """Return the interpreter that a person means by its path, or by a folder: a venv, a conda environment, a prefix.

    Raises UsageError for anything else.
    """
    path = posixpath.normpath(posixpath.join(folder, target))
    if files.is_folder(path):
        return _in_folder(path, target, files)
    if isinstance(files.identity(path), int):
        raise UsageError(f"there is no `{target}`", hint="name a Python interpreter or the folder of an environment")
    names = posixpath.basename(path), posixpath.basename(files.real(path))
    if not any(name.startswith(_PYTHONS) for name in names):
        raise UsageError(f"`{target}` is not a Python interpreter", hint="name a file such as `…/bin/python3`")
    return path


def _in_folder(path: str, target: str, files: Files) -> str:
    found = _python_in(path, files)
    if found:
        return found
    broken = [name for name in _INTERPRETERS if posixpath.basename(name) in files.names(posixpath.join(path, "bin"))]
    if broken:
        # The Python that a virtual environment was made with has been removed.
        link = posixpath.join(path, broken[0])
        raise UsageError(f"`{link}` is a link to a file that is gone", hint="make the environment anew with a Python")
    raise UsageError(f"there is no Python in `{target}`: no `bin/python3`", hint=_hint(path, files))


def _hint(path: str, files: Files) -> str:
    nearby = (posixpath.normpath(posixpath.join(path, name)) for name in (".venv", "venv", ".."))
    meant = next((folder for folder in nearby if _python_in(folder, files)), None)
    return f"did you mean `{meant}`?" if meant else "name the folder that holds `bin/python3`"


def _python_in(folder: str, files: Files) -> str | None:
    paths = (posixpath.join(folder, name) for name in _INTERPRETERS)
    return next((path for path in paths if not isinstance(files.identity(path), int)), None)


def _interpreter(path: str, variables: Mapping[str, str], files: Files, folder: str) -> str:
    """Return the interpreter behind a wrapper; in an image none can be asked."""
    live = isinstance(files, Disk) and not files.root
    if live:
        path = str(behind_wrapper(Path(path), variables, Path(folder)))
    try:
        script = files.elf(path).data[:2] == b"#!"
    except OSError as error:
        raise UsageError(f"`{path}` can't be read: {error.strerror}", hint="name a Python interpreter") from error
    if script:
        raise UsageError(f"`{path}` is a script that does not tell which Python it starts", hint="name that Python")
    return path
