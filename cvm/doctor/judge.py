"""The judgement of a case: all checks, with what has one cause put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.finding import NOTE, SEVERITIES
from cvm.doctor.registry import checks
from cvm.doctor.tidy import tidy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cvm.doctor.case import Case
    from cvm.doctor.finding import Finding

# From this code on checks judge the environment, before it loads.
_ENVIRONMENT = "CVM020"


def judge(case: Case) -> tuple[Finding, ...]:
    """Return what is wrong, the worst first; findings with one culprit are one, the others are its consequences."""
    found = (finding for one in checks() for finding in one.check(case))
    tidied = (tidy(finding, case.consumers) for finding in _once(found))
    return grouped(tidied, [consumer.name for consumer in case.consumers])


def grouped(findings: Iterable[Finding], consumers: Sequence[str]) -> tuple[Finding, ...]:
    """Sort findings by severity, consumer and code, and put those with the culprit of an earlier one below it.

    A note stands for itself: what it tells of is harmless, neither cause nor consequence.
    """
    groups: dict[object, list[Finding]] = {}
    for one in sorted(findings, key=lambda one: _rank(one, consumers)):
        culprit = one.evidence.get("culprit")
        alone = culprit is None or one.severity == NOTE
        groups.setdefault(id(one) if alone else culprit, []).append(one)
    return tuple(first._replace(consequences=(*first.consequences, *rest)) for first, *rest in groups.values())


def _rank(finding: Finding, consumers: Sequence[str]) -> tuple[int, int, bool, str]:
    place = consumers.index(finding.consumer) if finding.consumer in consumers else len(consumers)
    # What is wrong with the environment is why a load fails, not the other way round.
    return SEVERITIES.index(finding.severity), place, finding.code < _ENVIRONMENT, finding.code


def _once(findings: Iterable[Finding]) -> list[Finding]:
    known: dict[tuple[str, str, str], Finding] = {}
    for one in findings:
        known.setdefault((one.code, one.consumer, one.summary), one)
    return list(known.values())
