"""One consumer in full: the steps of its load, and every library with the rule by which the loader found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.consumers.consumer import Consumer, CudnnVersions, LibraryFile
    from cvm.consumers.load import Load, Step
    from cvm.elf.outcome import Loaded


def consumer_lines(consumer: Consumer) -> Iterator[str]:
    """Yield what was looked at: the consumer, its steps, and the libraries below whoever asked for them."""
    yield f"{consumer}  {consumer.path}"
    if consumer.cuda is None:
        yield "  built for the CPU only"
    elif consumer.cuda:
        yield f"  built for CUDA {consumer.cuda}"
    if consumer.cudnn:
        yield f"  {_cudnn(consumer.cudnn)}"
    yield "  steps:"
    if consumer.load.started and consumer.load.started.failure:
        yield f"    start of {consumer.load.started.name}  fails: {consumer.load.started.failure.text}"
    yield from (f"    {_step(step)}" for step in consumer.load.steps)
    yield "  libraries:"
    yield from (f"    {line}" for line in _tree(loaded(consumer.load), consumer.libraries))


def loaded(load: Load) -> tuple[Loaded, ...]:
    """Return every library of a load, also those that the step which ends it had found before it failed."""
    known = {one.path for one in load.loaded}
    failed = load.failed
    return load.loaded + tuple(one for one in (failed.outcome.loaded if failed else ()) if one.path not in known)


def version_text(version: tuple[int, ...] | None) -> str | None:
    """Return a version as people write it, None where it isn't known."""
    return None if version is None else ".".join(map(str, version))


def _cudnn(cudnn: CudnnVersions) -> str:
    compiled = version_text(cudnn.compiled) or "of a version that can't be told"
    runtime = version_text(cudnn.runtime) or "not to be told"
    by = f", by {cudnn.answered_by}" if cudnn.answered_by else ""
    return f"built for cuDNN {compiled} ({cudnn.compiled_from}); here it is {runtime}{by}"


def _step(step: Step) -> str:
    when = "at the first use: " if step.first_use else ""
    failure = step.outcome.failure
    result = "loads" if failure is None else f"fails{', which is handled' if step.handled else ''}: {failure.text}"
    return f"{when}{step.call}  {step.source}  {result}"


def _tree(libraries: Sequence[Loaded], files: Mapping[str, LibraryFile]) -> Iterator[str]:
    below: dict[str | None, list[Loaded]] = {}
    paths = {one.path for one in libraries}
    for one in libraries:
        below.setdefault(one.requested_by if one.requested_by in paths else None, []).append(one)
    # Not by recursion: the chain of who asked for whom may be as long as there are libraries.
    waiting = [(one, 0) for one in reversed(below.get(None, []))]
    while waiting:
        one, depth = waiting.pop()
        yield "  " * depth + _library(one, files)
        if below.get(one.path):
            waiting += [(child, depth + 1) for child in reversed(below.pop(one.path))]


def _library(one: Loaded, files: Mapping[str, LibraryFile]) -> str:
    by = (one.requested_by or "").rpartition("/")[2]
    # The path of the one that asked stands on a line above.
    own = bool(by) and one.found.owner == one.requested_by
    words = [one.soname or one.name.rpartition("/")[2], one.path]
    words += [str(one.found._replace(owner=by))] if own else [str(one.found), *([f"for {by}"] if by else [])]
    file = files.get(one.path)
    about = [text for text in (file.owner, file.version) if text] if file else []
    # The owner's text may have the version in it.
    if len(about) == 2 and about[1] in about[0]:
        about.pop()
    return "  ".join([*words, *([f"({', '.join(about)})"] if about else [])])
