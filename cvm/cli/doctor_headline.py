"""The verdict on one target, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.finding import ERROR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.actions.doctor import Diagnosis
    from cvm.consumers.consumer import Consumer

# More consumers than these are counted, not named.
_NAMED = 4


def headline(diagnosis: Diagnosis) -> str:
    """Say what will come of the consumers of a target: who fails, or who loads, and where."""
    failing = [one for one in diagnosis.consumers if one.load.error is not None]
    if failing:
        return f"{_names(failing)}{_place(diagnosis)} won't {_loading(failing)}"
    late = [one for one in diagnosis.consumers if one.first_use_error is not None]
    # Some go on without CUDA: a warning says so.
    if late and diagnosis.verdict == ERROR:
        verb = "loads" if len(late) == 1 else "load"
        return f"{_names(late)}{_place(diagnosis)} {verb}, and will fail at the first use"
    return _nothing_fails(diagnosis)


def _nothing_fails(diagnosis: Diagnosis) -> str:
    count = sum(one.severity == diagnosis.verdict for one in diagnosis.findings)
    faults = "" if not count else f" {count} {diagnosis.verdict}{'s' if count > 1 else ''}"
    if not diagnosis.consumers:
        return _without_consumers(diagnosis, faults)
    verb = "loads" if len(diagnosis.consumers) == 1 else "load"
    said = f"{_names(diagnosis.consumers)} {verb}{_place(diagnosis)}"
    if diagnosis.verdict == "unknown":
        return f"can't tell whether {said}"
    return f"{said}, with{faults}" if faults else said


def _without_consumers(diagnosis: Diagnosis, faults: str) -> str:
    place = f"in {_prefix(diagnosis)}"
    if diagnosis.verdict == "unknown":
        return f"can't tell whether anything {place} loads CUDA libraries"
    return f"nothing {place} loads CUDA libraries" + (f";{faults}" if faults else "")


def _names(consumers: Sequence[Consumer]) -> str:
    names = [str(one) for one in consumers]
    if len(names) > _NAMED:
        names[_NAMED - 1 :] = [f"{len(names) - _NAMED + 1} others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _place(diagnosis: Diagnosis) -> str:
    """Name where the consumers are, unless the target is the consumer."""
    if [one.path for one in diagnosis.consumers] == [diagnosis.target]:
        return ""
    return f" in {_prefix(diagnosis)}"


def _prefix(diagnosis: Diagnosis) -> str:
    return diagnosis.environment.prefix if diagnosis.environment else diagnosis.target


def _loading(consumers: Sequence[Consumer]) -> str:
    """Name what fails: a package is imported, an ELF file is loaded."""
    return "import" if all(one.distribution for one in consumers) else "load"
