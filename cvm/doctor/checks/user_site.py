"""A copy of a package in the user site or on PYTHONPATH that is imported instead of the environment's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.finding import WARNING, Finding
from cvm.doctor.installed import copies, origin
from cvm.doctor.pins import is_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.core.packages import Distribution, PythonEnvironment, SearchFolder
    from cvm.doctor.case import Case

CODES: Mapping[str, str] = {"CVM022": "another copy of a package hides the environment's own"}

_USER_SITE, _PYTHONPATH = "user site", "PYTHONPATH"


def check(case: Case) -> Iterator[Finding]:
    """Find consumers and CUDA libraries of two versions, of which the one from outside the environment wins."""
    python = case.python
    if python is None:
        return
    for folder in python.search:
        if folder.origin.startswith((_USER_SITE, _PYTHONPATH)):
            pairs = tuple(_hidden(case, python, folder))
            if pairs:
                yield _finding(python, folder, pairs)


def _hidden(case: Case, python: PythonEnvironment, folder: SearchFolder) -> Iterator[tuple[Distribution, Distribution]]:
    """Yield the distributions of a folder that win, each with the first one of another version behind it."""
    for name in _names(case, python):
        first, *others = copies(python, name) or (None,)
        if first is not None and first.folder == folder.path:
            hidden = next((one for one in others if one and one.folder != first.folder), None)
            if hidden is not None and hidden.version != first.version:
                yield first, hidden


def _names(case: Case, python: PythonEnvironment) -> tuple[str, ...]:
    consumers = [one.distribution for one in case.consumers if one.distribution]
    libraries = {one.name for one in python.distributions if is_library(one.name)}
    return tuple(sorted(libraries | {one.name for one in consumers} | {"torch"}))


def _finding(
    python: PythonEnvironment, folder: SearchFolder, pairs: tuple[tuple[Distribution, Distribution], ...]
) -> Finding:
    winner, hidden = pairs[0]
    more = f" (and {len(pairs) - 1} more)" if len(pairs) > 1 else ""
    evidence: dict[str, str | tuple[str, ...]] = {
        "culprit": origin(python, folder.path),
        "winner": f"{winner} in {winner.folder}",
        "wanted": f"{hidden} in {hidden.folder}",
        "files": tuple(one.info for pair in pairs for one in pair),
    }
    whose = "the user site" if folder.origin.startswith(_USER_SITE) else folder.origin
    summary = f"{winner} of {whose} ({folder.path}) is used in place of {hidden} in {hidden.folder}{more}"
    return Finding("CVM022", WARNING, "", summary, evidence, way_out(folder))


def way_out(folder: SearchFolder) -> tuple[str, ...]:
    """Return the commands that let the environment's own packages win."""
    if folder.origin.startswith(_USER_SITE):
        return ("export PYTHONNOUSERSITE=1",)
    return (f"# take {folder.path} out of PYTHONPATH, or for this shell all of it:", "unset PYTHONPATH")
