"""Installed packages: whose folder they lie in, and the commands that put them right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.hints import pip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.doctor.case import Case


def origin(python: PythonEnvironment, folder: str) -> str:
    """Return what put a folder on the search path, with the folder: `PYTHONPATH[0]=/opt/x`, `user site=/home/…`."""
    found = next((one.origin for one in python.search if one.path == folder), None)
    return f"{found}={folder}" if found else folder


def copies(python: PythonEnvironment, name: str) -> tuple[Distribution, ...]:
    """Return all distributions of a name, the one that an import uses first; a folder searched twice counts once."""
    found = {one.info: one for one in python.distributions if one.name == name}
    return tuple(found.values())


def beside(python: PythonEnvironment, one: Distribution, name: str) -> Distribution | None:
    """Return the distribution of a name in the folder of another one: there an RPATH with `$ORIGIN` reaches it."""
    return next((other for other in copies(python, name) if other.folder == one.folder), None)


def reached(python: PythonEnvironment, own: Distribution, name: str) -> Distribution | None:
    """Return the distribution of a name that a package uses: the copy beside it, else the one that is imported."""
    return beside(python, own, name) or python.distribution(name)


def is_doubtful(python: PythonEnvironment, one: Distribution) -> bool:
    """Whether a folder has the record of another version too: then neither tells what the folder holds."""
    return any(other.folder == one.folder and other.version != one.version for other in copies(python, one.name))


def replace(case: Case, out: Iterable[str], *back: str) -> str:
    """Return one line that uninstalls packages and installs others: the half of it would leave a hole."""
    return f"{pip(case, 'uninstall', '-y', *out)} && {pip(case, 'install', *back)}"
