"""Who answered a name in a load, and which file is to blame where the answer is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.doctor.family import is_cuda, same, stem
from cvm.elf.found import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.consumer import Consumer
    from cvm.consumers.load import Load
    from cvm.elf.outcome import Loaded, Outcome


class Blame(NamedTuple):
    """The file that doesn't belong there, and the one that should be in its place, if that is known.

    `foreign`: something outside of the packages put it there (a variable, ld.so.cache), not the packages themselves.
    """

    file: Loaded
    wanted: str | None
    foreign: bool


def outcomes(load: Load) -> Iterator[Outcome]:
    """Iterate over all that was loaded, in order, the start of the program first."""
    if load.started is not None:
        yield load.started
    for step in load.steps:
        yield step.outcome


def mapped(load: Load) -> dict[str, Loaded]:
    """Return every file that was in the process at some time, also of loads that failed, by path."""
    return {one.path: one for one in load.seen}


def answer(load: Load, name: str, requester: str | None = None) -> Loaded | None:
    """Return the file that a name meant, to this requester if he asked for it, else to anybody."""
    files = mapped(load)
    for outcome in outcomes(load):
        for request in outcome.requests:
            if request.requester == requester and request.name == name and request.path in files:
                return files[request.path]
    return next((one for one in files.values() if name in (one.soname, one.name, one.path.rpartition("/")[2])), None)


def provider(consumer: Consumer, symbol: str, needy: str) -> Loaded | None:
    """Guess which library should have an unversioned symbol, among those that the file needs."""
    names = {
        request.name: None
        for outcome in outcomes(consumer.load)
        for request in outcome.requests
        if request.requester == needy
    }
    telling = [name for name in names if symbol.lower().startswith(stem(name)[3:].lower())]
    if not telling:
        telling = [name for name in names if _changed(consumer, name, needy)]
        telling = telling if len(telling) == 1 else []
    name = max(telling, key=lambda one: len(stem(one)), default=None)
    return None if name is None else answer(consumer.load, name, needy)


def blame(consumer: Consumer, winner: Loaded | None, needy: str) -> Blame | None:
    """Say which of two files that don't fit together is the wrong one: the one that isn't there in a clean world."""
    for one in (winner, mapped(consumer.load).get(needy)):
        if one is None:
            continue
        other = _counterpart(consumer, one)
        if other is not None and not _equal(consumer, one, other):
            return Blame(one, other.path if other and other.path != one.path else None, foreign=True)
    if winner is None:
        return None
    foreign = winner.found.rule in (Rule.CACHE, Rule.DEFAULT)
    # What only the variables bring is a stranger, too.
    brought = winner.found.rule is Rule.ENVIRONMENT or winner.found.preload is not None
    foreign = foreign or (brought and _counterpart(consumer, winner) is None)
    return Blame(winner, _known_elsewhere(consumer, winner) if foreign else None, foreign)


def culprit(one: Loaded) -> str:
    """Name the variable or file that brings a library."""
    if one.found.preload:
        return f"{one.found.preload}={one.name}"
    if one.found.rule is Rule.ENVIRONMENT:
        return str(one.found)
    if one.found.rule is Rule.CACHE:
        return f"ld.so.cache: {one.path.rpartition('/')[0]}"
    return one.path


def bringer(one: Loaded) -> str:
    """Name in a sentence what brings a library."""
    if one.found.preload:
        return one.found.preload
    if one.found.rule in (Rule.ENVIRONMENT, Rule.CACHE):
        return "ld.so.cache" if one.found.rule is Rule.CACHE else "LD_LIBRARY_PATH"
    if one.found.rule is Rule.PATH:
        return "its path"
    return f"the {one.found!s}" if one.found.rule is Rule.DEFAULT else str(one.found)


def _counterpart(consumer: Consumer, one: Loaded) -> Loaded | None:
    return answer(consumer.clean, one.soname or one.name) or answer(consumer.clean, one.name)


def _changed(consumer: Consumer, name: str, needy: str) -> bool:
    now, other = answer(consumer.load, name, needy), answer(consumer.clean, name)
    return now is not None and other is not None and now.path != other.path


def _equal(consumer: Consumer, one: Loaded, other: Loaded) -> bool:
    if one.path == other.path or (one.identity is not None and one.identity == other.identity):
        return True
    libraries = consumer.libraries
    return same(libraries.get(one.path), libraries.get(other.path))


def _known_elsewhere(consumer: Consumer, one: Loaded) -> str | None:
    if not is_cuda(one.path):
        return None
    files = consumer.libraries.values()
    return next((file.path for file in files if file.soname == one.soname and file.path != one.path), None)
