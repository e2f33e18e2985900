"""A consumer that pins its CUDA libraries, and other versions of them, or none, installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.finding import NOTE, WARNING, Finding
from cvm.doctor.hints import pip
from cvm.doctor.installed import is_doubtful, reached
from cvm.doctor.pins import fits, pinned, requirements
from cvm.elf.outcome import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.requirements import Requirement

    from cvm.consumers.consumer import Consumer
    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.doctor.case import Case

CODES: Mapping[str, str] = {"CVM029": "a library is not of the version that a package pins"}


def check(case: Case) -> Iterator[Finding]:
    """Compare pins with what is installed; what loads in spite of a difference is no more than a note."""
    if case.python is None:
        return
    for consumer in case.consumers:
        if consumer.distribution is None:
            continue
        pins = _pins(case, consumer.distribution)
        found = {name: reached(case.python, consumer.distribution, name) for name in pins}
        other = [one for name, one in found.items() if one and not _agrees(case.python, pins[name], one)]
        if other:
            yield _other_version(case, consumer, pins, other)
        absent = [name for name, one in found.items() if one is None]
        if absent and _misses_a_library(consumer):
            yield _absent(case, consumer, pins, absent)


def _pins(case: Case, own: Distribution) -> dict[str, Requirement]:
    needs = requirements(case, own)
    return {name: one for name, one in needs.items() if name.startswith("nvidia-") and pinned(one)}


def _agrees(python: PythonEnvironment, pin: Requirement, one: Distribution) -> bool:
    return fits(pin, one.version) or is_doubtful(python, one)


def _misses_a_library(consumer: Consumer) -> bool:
    failures = [step.outcome.failure for step in consumer.load.steps]
    return _error(consumer) is not None and any(one and one.kind is Kind.LIBRARY for one in failures)


def _error(consumer: Consumer) -> str | None:
    return consumer.load.error or consumer.first_use_error


def _other_version(
    case: Case, consumer: Consumer, pins: Mapping[str, Requirement], other: list[Distribution]
) -> Finding:
    first = other[0]
    more = f" (and {len(other) - 1} more)" if len(other) > 1 else ""
    summary = f"{consumer} pins {first.name} {pinned(pins[first.name])}, and {first.version} is installed{more}"
    wanted = _wanted(pins, [one.name for one in other])
    evidence: dict[str, str | tuple[str, ...]] = {
        "culprit": first.info,
        "wanted": wanted,
        "runtime": tuple(map(str, other)),
    }
    # Where the variables are to blame for the failure, the packages are not.
    severity = WARNING if _error(consumer) and consumer.clean.error else NOTE
    return Finding("CVM029", severity, consumer.name, summary, evidence, _hint(case, wanted))


def _absent(case: Case, consumer: Consumer, pins: Mapping[str, Requirement], absent: list[str]) -> Finding:
    summary = f"{consumer} requires {', '.join(absent)}, not installed here"
    wanted = _wanted(pins, absent)
    evidence: dict[str, str | tuple[str, ...]] = {"missing": tuple(absent), "wanted": wanted}
    error = _error(consumer)
    if error:
        evidence["error"] = error
    return Finding("CVM029", WARNING, consumer.name, summary, evidence, _hint(case, wanted))


def _wanted(pins: Mapping[str, Requirement], names: list[str]) -> tuple[str, ...]:
    return tuple(f"{name}=={pinned(pins[name])}" for name in names)


def _hint(case: Case, wanted: tuple[str, ...]) -> tuple[str, ...]:
    return (pip(case, "install", "--no-deps", *wanted),)
