"""An optional engine of cuDNN that another cuDNN on the machine lends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.blame import Blame, bringer, culprit
from cvm.doctor.evidence import facts, via
from cvm.doctor.family import agree, is_cudnn
from cvm.doctor.finding import ERROR, Finding
from cvm.doctor.hints import remove
from cvm.doctor.strangers import members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case
    from cvm.doctor.strangers import Member
    from cvm.elf.outcome import MissingSymbol

CODES = {"CVM006": "an engine of cuDNN comes from another cuDNN"}

# They hold the functions that all others call: where they lie is where a process has its cuDNN.
_CORE = ("libcudnn_graph", "libcudnn_ops_infer", "libcudnn_ops", "libcudnn")


def check(case: Case) -> Iterator[Finding]:
    """Find engines that the cuDNN in use names and doesn't ship, and that the loader finds in another cuDNN."""
    for consumer in case.consumers:
        if consumer.load.error is None:
            for engine in engines(consumer):
                yield _finding(case, consumer, engine)


def engines(consumer: Consumer) -> tuple[Member, ...]:
    """Return the engines that come from elsewhere and that the folder of the cuDNN in use doesn't have."""
    family = members(consumer, is_cudnn, failed=True)
    folder = home(family)
    core = next((one for one in family if one.file.folder == folder), None)
    known = {(file.folder, file.soname) for file in consumer.libraries.values()}
    return tuple(
        one
        for one in family
        if "_engines_" in one.stem
        and one.file.folder != folder
        and (folder, one.file.soname) not in known
        and not (core is not None and _alike(core, one))
    )


def home(family: tuple[Member, ...]) -> str | None:
    """Return the folder of the cuDNN that answers."""
    folders = {one.stem: one.file.folder for one in reversed(family)}
    return next((folders[name] for name in _CORE if name in folders), None)


def _alike(core: Member, one: Member) -> bool:
    ours, theirs = core.file.version, one.file.version
    return ours is not None and theirs is not None and agree(ours, theirs)


def _missing(consumer: Consumer, path: str) -> Iterator[MissingSymbol]:
    """Iterate over what the engine doesn't find in the cuDNN in use, at once or when it is called."""
    for step in consumer.load.steps:
        failure = step.outcome.failure
        for one in (*(failure.symbols if failure else ()), *step.outcome.unbound):
            if one.path == path:
                yield one


def _finding(case: Case, consumer: Consumer, engine: Member) -> Finding:
    folder = home(members(consumer, is_cudnn, failed=True))
    path = engine.loaded.path
    lacks = next(_missing(consumer, path), None)
    version = f" of cuDNN {engine.file.version}" if engine.file.version else ""
    summary = (
        f"{consumer} fails at the first use of a foreign engine: {bringer(engine.loaded)} lends "
        f"{engine.file.soname}{version}, which the cuDNN in {folder} doesn't have"
    )
    evidence = facts(
        error=lacks.text if lacks else None,
        symbol=lacks.name if lacks else None,
        needed_by=engine.loaded.requested_by,
        winner=path,
        found_via=via(engine.loaded),
        culprit=culprit(engine.loaded),
    )
    hint = remove(case, consumer, Blame(engine.loaded, None, foreign=True), later=True)
    return Finding("CVM006", ERROR, consumer.name, summary, evidence, hint)
