"""A cuDNN that is older than the framework was compiled with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.blame import blame, bringer, culprit, mapped
from cvm.doctor.cudnn_rule import is_older
from cvm.doctor.evidence import facts, via
from cvm.doctor.finding import ERROR, Finding
from cvm.doctor.hints import pinned, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case
    from cvm.elf.outcome import Loaded

CODES = {"CVM004": "cuDNN is older than the framework was compiled with"}


def check(case: Case) -> Iterator[Finding]:
    """Find a cuDNN that a framework refuses at its first use; the file that tells its version decides, not the shim."""
    for consumer in case.consumers:
        if is_older(consumer.cudnn):
            yield _finding(case, consumer)


def _finding(case: Case, consumer: Consumer) -> Finding:
    versions = consumer.cudnn
    assert versions is not None
    compiled, runtime = _text(versions.compiled), _text(versions.runtime)
    winner = mapped(consumer.load).get(versions.answered_by or "")
    blamed = blame(consumer, winner, winner.path) if winner else None
    if blamed is not None and blamed.file is not winner:
        blamed = None
    summary = f"{consumer} refuses cuDNN: it was compiled with {compiled}, and {_source(winner)} {runtime}"
    evidence = facts(
        error=consumer.first_use_error or (consumer.load.error if consumer.load.failed is None else None),
        compiled=compiled,
        compiled_from=versions.compiled_from,
        runtime=runtime,
        winner=versions.answered_by,
        found_via=via(winner) if winner else None,
        culprit=culprit(blamed.file) if blamed else versions.answered_by,
        wanted=blamed.wanted if blamed else None,
    )
    hint = remove(case, consumer, blamed, later=True) or pinned(case, consumer, "nvidia-cudnn")
    return Finding("CVM004", ERROR, consumer.name, summary, evidence, hint)


def _source(winner: Loaded | None) -> str:
    return f"{bringer(winner)} brings" if winner else "here is"


def _text(version: tuple[int, int, int] | None) -> str:
    return ".".join(map(str, version or ()))
