"""What LD_PRELOAD brings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.doctor.blame import Blame, answer, culprit
from cvm.doctor.evidence import facts, name, via
from cvm.doctor.family import is_cuda, is_driver, same
from cvm.doctor.finding import NOTE, WARNING, Finding
from cvm.doctor.hints import remove, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case
    from cvm.elf.outcome import Loaded

CODES = {"CVM014": "LD_PRELOAD brings a CUDA library, or what can't be loaded"}

_IGNORED = re.compile(r"ERROR: ld\.so: object '(.*)' from (\S+) cannot be preloaded \((.*)\): ignored\.")
_SEPARATORS = re.compile("[ :]+")


def check(case: Case) -> Iterator[Finding]:
    """Find CUDA libraries that a preload puts in the place of a consumer's own, and preloads that come to nothing."""
    warnings = dict.fromkeys(
        text for one in case.consumers if one.load.started is not None for text in one.load.started.warnings
    )
    for text in warnings:
        match = _IGNORED.fullmatch(text)
        if match:
            yield _ignored(case, text, match[1], match[2])
    for consumer in case.consumers:
        for one in consumer.load.loaded:
            if one.found.preload and _displaces(consumer, one):
                yield _displaced(case, consumer, one)


def _ignored(case: Case, text: str, path: str, variable: str) -> Finding:
    summary = f"{variable} names {path}, which can't be loaded: every program starts with a complaint about it"
    hint = (without(case, variable, (path,), _SEPARATORS),) if variable == "LD_PRELOAD" else ()
    return Finding("CVM014", NOTE, "", summary, facts(error=text, culprit=f"{variable}={path}"), hint)


def _displaces(consumer: Consumer, one: Loaded) -> bool:
    """Whether the consumer has a library of that name itself, of another build."""
    own = answer(consumer.clean, one.soname or one.name)
    if own is None or not is_cuda(one.soname or one.path) or is_driver(one.soname or one.path):
        return False
    libraries = consumer.libraries
    return own.path != one.path and not same(libraries.get(one.path), libraries.get(own.path))


def _displaced(case: Case, consumer: Consumer, one: Loaded) -> Finding:
    own = answer(consumer.clean, one.soname or one.name)
    assert own is not None
    summary = f"{one.found.preload} puts {name(consumer, one)} in the place of {consumer.name}'s {name(consumer, own)}"
    evidence = facts(winner=one.path, found_via=via(one), culprit=culprit(one), wanted=own.path)
    hint = remove(case, consumer, Blame(one, own.path, foreign=True), later=True)
    return Finding("CVM014", WARNING, consumer.name, summary, evidence, hint)
