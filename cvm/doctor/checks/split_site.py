"""A consumer in one folder of the search path and the libraries that it requires in another: its RPATH misses them."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

from cvm.doctor.finding import ERROR, WARNING, Finding
from cvm.doctor.hints import pip
from cvm.doctor.installed import beside, copies, origin
from cvm.doctor.pins import requirements
from cvm.elf.outcome import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.consumers.consumer import Consumer
    from cvm.consumers.load import Step
    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.doctor.case import Case

CODES: Mapping[str, str] = {"CVM021": "a package and the libraries that it requires lie in different folders"}

# What NVIDIA's wheels bring; the driver's libcuda.so is none of theirs.
_OF_A_WHEEL = re.compile(r"lib(?:cu(?!da\.so)|nv|nccl)")


def check(case: Case) -> Iterator[Finding]:
    """Find consumers that miss a library which a package brings that lies elsewhere on the search path.

    A consumer that loads in spite of it (torch opens the files by their paths then) is no finding.
    """
    if case.python is None:
        return
    for consumer in case.consumers:
        apart = _apart(case, case.python, consumer)
        missing = _missing(consumer, apart) if apart else ()
        if missing:
            yield _finding(case, case.python, consumer, apart, missing)


def _apart(case: Case, python: PythonEnvironment, consumer: Consumer) -> tuple[Distribution, ...]:
    """Return the required distributions that are installed, and not beside the consumer."""
    found: list[Distribution] = []
    own = consumer.distribution
    for name in requirements(case, own):
        if own and name.startswith("nvidia-") and beside(python, own, name) is None:
            found += copies(python, name)[:1]
    return tuple(found)


def _missing(consumer: Consumer, apart: tuple[Distribution, ...]) -> tuple[str, ...]:
    """Return the names that nothing answered and that a file in the other folders would have answered."""
    failures = [step.outcome.failure for step in consumer.load.steps if _counts(consumer, step)]
    names = dict.fromkeys(
        one.name for failure in failures if failure and failure.kind is Kind.LIBRARY for one in failure.libraries
    )
    folders = {one.folder.rstrip("/") + "/" for one in apart}
    return tuple(name for name in names if _is_there(name, consumer, folders))


def _counts(consumer: Consumer, step: Step) -> bool:
    """Whether a failure could be why something ends; what the import got over is not why a later use fails."""
    return bool(consumer.load.error or not step.handled or (consumer.first_use_error and step.first_use))


def _error(consumer: Consumer) -> str | None:
    return consumer.load.error or consumer.first_use_error


def _is_there(name: str, consumer: Consumer, folders: set[str]) -> bool:
    known = consumer.elsewhere.get(name, ())
    if known:
        return any(path.startswith(folder) for path in known for folder in folders)
    return _OF_A_WHEEL.match(name) is not None


def _finding(
    case: Case, python: PythonEnvironment, consumer: Consumer, apart: tuple[Distribution, ...], missing: tuple[str, ...]
) -> Finding:
    own = consumer.distribution
    assert own is not None
    other = origin(python, apart[0].folder)
    packages = f"{apart[0]} lies" if len(apart) == 1 else f"{apart[0]} and {len(apart) - 1} more lie"
    evidence: dict[str, str | tuple[str, ...]] = {
        "missing": missing[0] if len(missing) == 1 else missing,
        "wanted": f"{own.folder}/nvidia",
        "culprit": other,
        "files": tuple(one.info for one in apart),
    }
    error = _error(consumer)
    if error:
        evidence["error"] = error
    summary = (
        f"{consumer} lies in {own.folder} and finds its libraries only beside it, but {packages} in {apart[0].folder}"
    )
    severity = ERROR if error else WARNING
    return Finding("CVM021", severity, consumer.name, summary, evidence, _hint(case, own, apart))


def _hint(case: Case, own: Distribution, apart: tuple[Distribution, ...]) -> tuple[str, ...]:
    folders = {one.folder for one in apart}
    python = case.python
    assert python is not None
    beside_it = any(one.folder == own.folder and one.name.startswith("nvidia-") for one in python.distributions)
    if len(folders) == 1 and not beside_it:
        # pip would put them where they are again; without `-T` a link would land inside of a folder of that name.
        return (f"ln -sT {quote(apart[0].folder + '/nvidia')} {quote(own.folder + '/nvidia')}",)
    wanted = [f"{one.name}=={one.version}" for one in apart]
    line = pip(case, "install", "--ignore-installed", "--no-deps", *wanted)
    user = any(one.path in folders and one.origin == "user site" for one in python.search)
    return (f"# the packages must come to lie in {own.folder}", f"PYTHONNOUSERSITE=1 {line}" if user else line)
