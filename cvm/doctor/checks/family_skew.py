"""Libraries that are made for each other, of two versions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cvm.doctor.blame import Blame, bringer, culprit
from cvm.doctor.evidence import facts, name, via
from cvm.doctor.family import FAMILIES, agree, major, number, stem
from cvm.doctor.finding import WARNING, Finding
from cvm.doctor.hints import remove
from cvm.doctor.strangers import members, mixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case
    from cvm.doctor.strangers import Member

CODES = {"CVM007": "two versions of one library family are mixed"}


def check(case: Case) -> Iterator[Finding]:
    """Find a cuBLAS with the cuBLASLt of another version and the like: all symbols resolve, and calls fail."""
    for consumer in case.consumers:
        if consumer.load.error is None:
            for family in FAMILIES:
                yield from _family(case, consumer, family)


def _family(case: Case, consumer: Consumer, family: tuple[str, ...]) -> Iterator[Finding]:
    found = members(consumer, lambda soname: stem(soname) in family)
    for one, other in combinations(found, 2):
        if one.stem != other.stem and _major(one) == _major(other) and _differ(one, other):
            yield _finding(case, consumer, one, other)
            return


def _differ(one: Member, other: Member) -> bool:
    """Whether both are of different versions; the builtins of NVRTC have theirs in their name."""
    pair = sorted((one, other), key=lambda each: each.stem)
    builtins = number(pair[1].file.soname or "")
    if pair[1].stem == "libnvrtc-builtins" and builtins:
        version = pair[0].file.version
        return version is not None and not agree(version, builtins)
    return mixed((one, other))


def _major(one: Member) -> str | None:
    return major(one.file.soname or one.loaded.path)


def _finding(case: Case, consumer: Consumer, one: Member, other: Member) -> Finding:
    odd, rest = (one, other) if one.stranger else (other, one)
    summary = (
        f"{consumer} mixes versions that weren't made for each other: {name(consumer, odd.loaded)} by "
        f"{bringer(odd.loaded)} with {name(consumer, rest.loaded)} by {bringer(rest.loaded)}"
    )
    evidence = facts(
        winner=odd.loaded.path,
        found_via=via(odd.loaded),
        culprit=culprit(odd.loaded),
        wanted=odd.wanted,
        files=(odd.loaded.path, rest.loaded.path),
    )
    hint = remove(case, consumer, Blame(odd.loaded, odd.wanted, odd.stranger), later=True)
    return Finding("CVM007", WARNING, consumer.name, summary, evidence, hint)
