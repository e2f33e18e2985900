"""A library that is found nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.cause import claimed
from cvm.doctor.evidence import brings, fails, needy, of_trouble
from cvm.doctor.family import is_driver
from cvm.doctor.finding import Finding
from cvm.doctor.hints import remove, wheel_first
from cvm.doctor.installed import origin
from cvm.doctor.trouble import exact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble

CODES = {"CVM001": "a library is missing"}


def check(case: Case) -> Iterator[Finding]:
    """Find libraries that somebody needs and the loader finds nowhere."""
    for trouble in claimed(case, "CVM001"):
        summary = f"{fails(trouble)}: {_reason(trouble)}"
        evidence = of_trouble(trouble, cause=_apart(case, trouble))
        yield Finding("CVM001", trouble.severity, trouble.consumer.name, summary, evidence, _hint(case, trouble))


def _apart(case: Case, trouble: Trouble) -> str | None:
    """Return what put the file into another folder of the search path than the consumer's: that is to blame then."""
    own = trouble.consumer.distribution
    for path in exact(trouble):
        for folder in case.python.search if case.python else ():
            if own and folder.path != own.folder and path.startswith(f"{folder.path}/nvidia/"):
                return origin(case.python, folder.path) if case.python else None
    return None


def _reason(trouble: Trouble) -> str:
    missing = trouble.missing.name if trouble.missing else ""
    text = f"{needy(trouble)} needs {missing}, which is nowhere"
    if is_driver(missing):
        return f"{needy(trouble)} needs {missing} of NVIDIA's driver, which isn't here"
    if exact(trouble):
        text = f"{needy(trouble)} needs {missing}, which lies at {exact(trouble)[0]}, a folder that nobody searches"
    if trouble.blamed is not None:
        text += f"; {brings(trouble.consumer, trouble.blamed.file, trouble.blamed.wanted)}"
    return text


def _hint(case: Case, trouble: Trouble) -> tuple[str, ...]:
    found = exact(trouble)
    commands = remove(case, trouble.consumer, trouble.blamed, later=trouble.later)
    return (*commands, wheel_first(case, trouble.consumer, found[0])) if found else commands
