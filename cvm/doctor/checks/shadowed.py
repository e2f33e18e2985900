"""A wheel's library that another of the same name stands in front of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.blame import bringer
from cvm.doctor.cause import claimed
from cvm.doctor.evidence import brings, fails, name, of_trouble
from cvm.doctor.family import base
from cvm.doctor.finding import Finding
from cvm.doctor.hints import remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble

CODES = {"CVM002": "a CUDA library is shadowed by another build of it"}


def check(case: Case) -> Iterator[Finding]:
    """Find libraries that lack what a wheel's library needs, where the wheel has one of its own that doesn't."""
    for trouble in claimed(case, "CVM002"):
        hint = remove(case, trouble.consumer, trouble.blamed, later=trouble.later)
        evidence = of_trouble(trouble)
        yield Finding("CVM002", trouble.severity, trouble.consumer.name, explained(trouble), evidence, hint)


def explained(trouble: Trouble) -> str:
    """Say in one sentence which library stands in whose way, and what is missing."""
    consumer, blamed, winner = trouble.consumer, trouble.blamed, trouble.winner
    lacks = trouble.symbol or trouble.version
    if blamed is None or winner is None:
        return f"{fails(trouble)}: {base(trouble.needy)} needs {lacks}, which {trouble.asked or 'no library'} lacks"
    if blamed.file.path == winner.path:
        where = brings(consumer, winner, blamed.wanted)
        if not blamed.foreign:
            where = f"{name(consumer, winner)} comes by {bringer(winner)}"
        return f"{fails(trouble)}: {where}, and it lacks {lacks} that {base(trouble.needy)} needs"
    where = brings(consumer, blamed.file, blamed.wanted)
    return f"{fails(trouble)}: {where}, and it needs {lacks}, which {name(consumer, winner)} lacks"
