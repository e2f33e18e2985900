"""An NCCL that lacks what the framework calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.cause import claimed
from cvm.doctor.checks.shadowed import explained
from cvm.doctor.evidence import of_trouble
from cvm.doctor.finding import Finding
from cvm.doctor.hints import pinned, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case

CODES = {"CVM010": "NCCL is older than the framework that needs it"}


def check(case: Case) -> Iterator[Finding]:
    """Find an NCCL that lacks functions that a consumer calls; its symbols have no versions."""
    for trouble in claimed(case, "CVM010"):
        hint = remove(case, trouble.consumer, trouble.blamed, later=trouble.later) or pinned(
            case, trouble.consumer, "nvidia-nccl"
        )
        evidence = of_trouble(trouble)
        yield Finding("CVM010", trouble.severity, trouble.consumer.name, explained(trouble), evidence, hint)
