"""A cuDNN whose libraries come from several installations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.blame import Blame, bringer, culprit
from cvm.doctor.cause import claimed
from cvm.doctor.checks.cudnn_engine import engines, home
from cvm.doctor.checks.shadowed import explained
from cvm.doctor.evidence import facts, of_trouble, via
from cvm.doctor.family import is_cudnn
from cvm.doctor.finding import ERROR, WARNING, Finding
from cvm.doctor.hints import remove
from cvm.doctor.strangers import members, mixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case
    from cvm.doctor.strangers import Member
    from cvm.doctor.trouble import Trouble

CODES = {"CVM005": "the libraries of one cuDNN come from several installations"}


def check(case: Case) -> Iterator[Finding]:
    """Find cuDNN libraries of different builds in one process: they check each other's version, or crash."""
    for consumer in case.consumers:
        foreign = {one.loaded.path for one in engines(consumer)}
        family = tuple(one for one in members(consumer, is_cudnn, failed=True) if one.loaded.path not in foreign)
        claims = (one for one in claimed(case, "CVM005") if one.consumer is consumer and one.needy not in foreign)
        trouble = next(claims, None)
        if trouble is not None:
            yield _failing(case, trouble)
        elif consumer.load.error is None and mixed(family):
            yield _mixed(case, consumer, family)


def _failing(case: Case, trouble: Trouble) -> Finding:
    hint = remove(case, trouble.consumer, trouble.blamed, later=trouble.later)
    evidence = of_trouble(trouble)
    return Finding("CVM005", trouble.severity, trouble.consumer.name, explained(trouble), evidence, hint)


def _mixed(case: Case, consumer: Consumer, family: tuple[Member, ...]) -> Finding:
    main = home(family)
    odd = next((one for one in family if one.stranger), None) or next(one for one in family if one.file.folder != main)
    rest = next(one for one in family if one.file.folder != odd.file.folder)
    # The shim only forwards calls: newer libraries behind an older one mostly work.
    core = tuple(one for one in family if one.stem != "libcudnn")
    severity = ERROR if mixed(core) else WARNING
    summary = f"{consumer} mixes two cuDNN: {_words(rest)}, {_words(odd)}"
    evidence = facts(
        winner=odd.loaded.path,
        found_via=via(odd.loaded),
        culprit=culprit(odd.loaded),
        wanted=odd.wanted,
        files=tuple(one.loaded.path for one in family),
    )
    hint = remove(case, consumer, Blame(odd.loaded, odd.wanted, odd.stranger), later=True)
    return Finding("CVM005", severity, consumer.name, summary, evidence, hint)


def _words(one: Member) -> str:
    version = f" {one.file.version}" if one.file.version else ""
    return f"{one.file.soname}{version} by {bringer(one.loaded)}"
