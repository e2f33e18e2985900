"""What goes wrong in a consumer's load, and what is known of each of these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.load import Step
from cvm.doctor.blame import answer, blame, mapped, provider
from cvm.doctor.cudnn_rule import is_older
from cvm.doctor.family import is_cuda, is_driver, number, stem
from cvm.doctor.finding import ERROR, NOTE, WARNING
from cvm.doctor.trouble import Trouble, exact, other_majors
from cvm.elf.found import Rule
from cvm.elf.outcome import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.consumers.load import Load
    from cvm.doctor.case import Case
    from cvm.elf.outcome import Failure, Missing, MissingSymbol

# onnxruntime-gpu, cupy-cuda12x, jax-cuda13-plugin, tensorrt-cu12
_FOR_GPU = re.compile(r"gpu|cuda|-cu\d")


def claimed(case: Case, code: str) -> Iterator[Trouble]:
    """Iterate over the troubles that one check speaks of."""
    for consumer in case.consumers:
        for trouble in troubles(case, consumer):
            if trouble.code == code:
                yield trouble


def troubles(case: Case, consumer: Consumer) -> Iterator[Trouble]:
    """Iterate over all that goes wrong in a consumer's load; what ends it comes alone."""
    load = consumer.load
    if load.error is not None:
        yield _quieter(case, _end(consumer))
        return
    found = [one for step in _steps(load) for one in _of_step(case, consumer, step)]
    if consumer.first_use_error is not None and all(one.severity == WARNING for one in found):
        told = _at_first_use(case, consumer, consumer.first_use_error)
        found = [*told, *(one for one in found if all(one.step is not other.step for other in told))]
    yield from found


def _at_first_use(case: Case, consumer: Consumer, error: str) -> list[Trouble]:
    """Explain the words at the first use by a failure that the code itself went on after."""
    step = _telling(consumer, error)
    if step is None or step.outcome.failure is None:
        return [Trouble(consumer, None, error, ERROR, later=True)]
    trouble = _trouble(consumer, step, step.outcome.failure, ERROR)._replace(later=True)
    if trouble.missing is None or not step.handled or _worked(consumer, step):
        return [_quieter(case, trouble)]
    return [_as_fallback(case, trouble)]


def _as_fallback(case: Case, trouble: Trouble) -> Trouble:
    """Say how bad it is that the work is done on the CPU: nothing, where nobody wants another thing."""
    unwanted = case.machine.gpu is False and not _is_wanted(trouble)
    return trouble._replace(severity=NOTE if unwanted else WARNING)


def _is_wanted(trouble: Trouble) -> bool:
    """Whether an environment is made for a GPU: by the package's name, or because CUDA libraries lie there.

    `pip install tensorflow` brings a build for CUDA without the libraries, and most who do that want the CPU.
    """
    files = (one.soname or one.path for one in trouble.consumer.load.loaded)
    there = any(is_cuda(name) and not is_driver(name) for name in files)
    return there or bool(_FOR_GPU.search(trouble.consumer.name) or exact(trouble) or other_majors(trouble))


def _of_step(case: Case, consumer: Consumer, step: Step) -> Iterator[Trouble]:
    if step.outcome.failure is None:
        yield from _aborts(consumer, step)
    elif not step.handled:
        yield _quieter(case, _trouble(consumer, step, step.outcome.failure, ERROR))
    elif not _made_good(consumer, step):
        yield from _handled(case, consumer, step, step.outcome.failure)


def _end(consumer: Consumer) -> Trouble:
    load = consumer.load
    error = load.error or ""
    step = load.failed
    if step is None and load.started is not None and load.started.failure is not None:
        step = _steps(load)[0]
    step = step or _telling(consumer, error)
    if step is None or step.outcome.failure is None or _is_own_complaint(consumer, error):
        return Trouble(consumer, None, error, ERROR)
    trouble = _trouble(consumer, step, step.outcome.failure, ERROR)
    return trouble._replace(later=step.first_use)


def _steps(load: Load) -> tuple[Step, ...]:
    """Return all that is loaded, the program's own start first."""
    if load.started is None:
        return load.steps
    return (Step("start", load.started.name, load.started), *load.steps)


def _telling(consumer: Consumer, error: str) -> Step | None:
    """Return the failure behind the consumer's own words: one that they quote, or that a clean world doesn't have."""
    failed = [step for step in consumer.load.steps if step.outcome.failure and not _made_good(consumer, step)]
    quoted = (step for step in failed if step.outcome.failure and step.outcome.failure.text in error)
    return next(quoted, None) or next((step for step in failed if _worked(consumer, step)), None)


def _quieter(case: Case, trouble: Trouble) -> Trouble:
    """Only note that the driver's libraries are missing, unless there is a GPU: build containers never have them."""
    if trouble.missing is None or not is_driver(trouble.missing.name) or case.machine.gpu:
        return trouble
    return trouble._replace(severity=NOTE)


def _is_own_complaint(consumer: Consumer, error: str) -> bool:
    return consumer.load.failed is None and "cudnn" in error.lower() and is_older(consumer.cudnn)


def _made_good(consumer: Consumer, step: Step) -> bool:
    """Whether the code found another way: the same name opened later, or any version of that library."""
    good = [one.outcome for one in consumer.load.steps if one.outcome.ok]
    if any(one.name == step.outcome.name for one in good):
        return True
    failure = step.outcome.failure
    name = failure.libraries[0].name if failure and failure.libraries else step.outcome.name
    if name == step.outcome.name and any(one.outcome.name.endswith(f"/{name}") for one in consumer.load.steps):
        # It is not there by its name, and was tried by its path: that attempt tells more.
        return True
    return is_cuda(name) and any(stem(one.soname or one.path) == stem(name) for one in consumer.load.loaded)


def _handled(case: Case, consumer: Consumer, step: Step, failure: Failure) -> Iterator[Trouble]:
    """Judge a failure that the code goes on after: it may be the way to a silent use of the CPU."""
    trouble = _trouble(consumer, step, failure, WARNING)
    if trouble.missing is None:
        yield trouble
    elif is_driver(trouble.missing.name) or number(trouble.missing.name) is None:
        return
    elif _worked(consumer, step):
        yield trouble
    elif exact(trouble) or other_majors(trouble):
        yield _as_fallback(case, trouble)


def _worked(consumer: Consumer, step: Step) -> bool:
    """Whether the same load succeeds in a clean world."""
    return any(one.call == step.call and one.outcome.ok for one in consumer.clean.steps)


def _aborts(consumer: Consumer, step: Step) -> Iterator[Trouble]:
    """Judge functions that only a call would miss; what is the same in a clean world is the library's own affair."""
    if consumer.clean is consumer.load:
        return
    same = [one.outcome for one in _steps(consumer.clean) if one.call == step.call]
    known = {(one.name, one.version) for outcome in same for one in outcome.unbound}
    for one in step.outcome.unbound:
        if (one.name, one.version) not in known:
            yield _of_symbol(Trouble(consumer, step, one.text, ERROR, Kind.SYMBOL, later=True), one)
            return


def _trouble(consumer: Consumer, step: Step, failure: Failure, severity: str) -> Trouble:
    base = Trouble(consumer, step, failure.text, severity, failure.kind, later=step.first_use)
    if failure.libraries:
        return _of_library(base, failure.libraries[0])
    if failure.symbols:
        return _of_symbol(base, failure.symbols[0])
    if failure.versions:
        one = failure.versions[0]
        return _with_winner(base._replace(version=one.version), one.required_by, one.path.rpartition("/")[2], one.path)
    return base


def _of_library(base: Trouble, one: Missing) -> Trouble:
    needy = one.requester or ""
    requester = mapped(base.consumer.load).get(needy)
    blamed = blame(base.consumer, requester, needy)
    if blamed is not None and not (blamed.foreign and blamed.wanted):
        blamed = None
    return base._replace(needy=one.requester, missing=one, blamed=blamed)


def _of_symbol(base: Trouble, one: MissingSymbol) -> Trouble:
    trouble = base._replace(symbol=one.name, version=one.version)
    if one.file is not None:
        return _with_winner(trouble, one.path, one.file, None)
    winner = provider(base.consumer, one.name, one.path)
    name = None if winner is None else winner.soname or winner.name
    return _with_winner(trouble, one.path, name, winner.path if winner else None)


def _with_winner(trouble: Trouble, needy: str, asked: str | None, path: str | None) -> Trouble:
    consumer = trouble.consumer
    winner = mapped(consumer.load).get(path) if path else None
    if winner is None and asked is not None:
        winner = answer(consumer.load, asked, needy)
    if path and winner is not None:
        asked = next((name for name in _names(consumer, needy, winner.path)), asked)
    blamed = blame(consumer, winner, needy)
    if blamed is not None and _fails_alike(consumer, trouble, needy):
        blamed = blamed._replace(wanted=None, foreign=blamed.file.found.rule in (Rule.CACHE, Rule.DEFAULT))
    return trouble._replace(needy=needy, asked=asked, winner=winner, blamed=blamed)


def _fails_alike(consumer: Consumer, trouble: Trouble, needy: str) -> bool:
    """Whether the same is missing to the same library in a clean world: then the variables are not to blame."""
    failed = None if consumer.clean is consumer.load else consumer.clean.failed
    failure = failed.outcome.failure if failed else None
    if failure is None:
        return False
    lacks: set[tuple[str | None, str | None, str]]
    lacks = {(one.name, one.version, stem(one.path)) for one in failure.symbols}
    lacks |= {(None, one.version, stem(one.required_by)) for one in failure.versions}
    return (trouble.symbol, trouble.version, stem(needy)) in lacks


def _names(consumer: Consumer, needy: str, path: str) -> Iterator[str]:
    for step in consumer.load.steps:
        for request in step.outcome.requests:
            if request.requester == needy and request.path == path:
                yield request.name
