"""A build for one major of CUDA where only another is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.blame import culprit
from cvm.doctor.cause import claimed
from cvm.doctor.evidence import facts, fails, needy, of_trouble, via
from cvm.doctor.family import base, is_cudnn, major, stem
from cvm.doctor.finding import WARNING, Finding
from cvm.doctor.hints import pip, remove
from cvm.doctor.trouble import is_crossed, other_majors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble
    from cvm.elf.outcome import Loaded

CODES = {"CVM008": "built for another major of CUDA than the one that is there"}

# Libraries whose own major is CUDA's; cuFFT, cuRAND and others count for themselves.
_AS_CUDA = frozenset({"libcudart", "libcublas", "libcublasLt", "libnvrtc", "libnvJitLink"})


def check(case: Case) -> Iterator[Finding]:
    """Find libraries of which only another major is there, and links that pretend to be another major."""
    for trouble in claimed(case, "CVM008"):
        found = _missing(case, trouble) if trouble.missing else _crossed(case, trouble)
        yield found
    for consumer in case.consumers:
        for one in consumer.load.loaded:
            if is_crossed(base(one.name), one):
                yield _linked(consumer, one)


def _missing(case: Case, trouble: Trouble) -> Finding:
    name = trouble.missing.name if trouble.missing else ""
    there = other_majors(trouble)
    summary = f"{fails(trouble)}: {needy(trouble)} was built for {_product(name)} {major(name)}, {_only(name, there)}"
    hint = remove(case, trouble.consumer, trouble.blamed, later=trouble.later) or _other_build(case, trouble)
    evidence = of_trouble(trouble)
    return Finding("CVM008", trouble.severity, trouble.consumer.name, summary, evidence, hint)


def _only(name: str, there: tuple[str, ...]) -> str:
    majors = sorted({major(path) or "" for path in there})
    return f"and of {stem(name)} only {' and '.join(majors)} is here ({there[0]})"


def _product(name: str) -> str:
    if stem(name) in _AS_CUDA:
        return "CUDA"
    return "cuDNN" if is_cudnn(name) else stem(name)


def _other_build(case: Case, trouble: Trouble) -> tuple[str, ...]:
    wanted = major(trouble.missing.name if trouble.missing else "") or ""
    newest = max((int(major(path) or 0) for path in other_majors(trouble)), default=0)
    advice = "# install a build of it for the major that is here; a link to the other major would only hide this"
    distribution = trouble.consumer.distribution
    if distribution is None or not wanted.isdigit() or int(wanted) > newest:
        # The newest release may already be what is here.
        return (advice,)
    return (advice, pip(case, "install", "--upgrade", distribution.name))


def _crossed(case: Case, trouble: Trouble) -> Finding:
    winner = trouble.winner
    assert winner is not None
    summary = f"{fails(trouble)}: {_pretends(trouble.asked or '', winner)}"
    hint = (*remove(case, trouble.consumer, trouble.blamed, later=trouble.later), *_unlink(winner))
    evidence = of_trouble(trouble, cause=culprit(winner))
    return Finding("CVM008", trouble.severity, trouble.consumer.name, summary, evidence, hint)


def _linked(consumer: Consumer, one: Loaded) -> Finding:
    evidence = facts(winner=one.path, found_via=via(one), needed_by=one.requested_by, culprit=culprit(one))
    summary = f"{consumer} loads a library of the wrong major: {_pretends(base(one.name), one)}"
    return Finding("CVM008", WARNING, consumer.name, summary, evidence, _unlink(one))


def _pretends(asked: str, one: Loaded) -> str:
    return f"{one.path} is named {asked} and is {one.soname}"


def _unlink(one: Loaded) -> tuple[str, ...]:
    return (f"# the link {one.path} was made by hand: take it away, and install what it pretends to be",)
