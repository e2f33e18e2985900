"""Members of one family of libraries that come from several places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.doctor.blame import answer
from cvm.doctor.family import agree, same, stem
from cvm.elf.found import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.consumer import Consumer, LibraryFile
    from cvm.elf.outcome import Loaded


class Member(NamedTuple):
    """A member that is loaded; `stranger`: not from where the packages have theirs, and another build.

    `wanted` is the file that a clean world uses under its soname, where that is another.
    """

    loaded: Loaded
    file: LibraryFile
    stranger: bool
    wanted: str | None

    @property
    def stem(self) -> str:
        """The library's name without a version."""
        return stem(self.file.soname or self.loaded.path)


def members(consumer: Consumer, belongs: Callable[[str], bool], *, failed: bool = False) -> tuple[Member, ...]:
    """Return the loaded libraries of a family, with `failed` also those of loads that fail and end something."""
    loaded = {one.path: one for one in consumer.load.loaded}
    for step in consumer.load.steps:
        if failed and not step.outcome.ok and not step.handled:
            loaded.update((one.path, one) for one in step.outcome.loaded)
    found = ((one, consumer.libraries.get(one.path)) for one in loaded.values())
    return tuple(
        _member(consumer, one, file) for one, file in found if file is not None and belongs(file.soname or one.path)
    )


def mixed(family: tuple[Member, ...]) -> bool:
    """Whether members of different builds lie in several folders; versions that agree are no mixture."""
    if len({one.file.folder for one in family}) < 2:
        return False
    versions = [one.file.version for one in family]
    known = [version for version in versions if version is not None]
    differ = any(not agree(known[0], other) for other in known[1:])
    if differ or len(known) == len(versions):
        return differ
    return len({one.stranger for one in family}) == 2


def _member(consumer: Consumer, one: Loaded, file: LibraryFile) -> Member:
    other = answer(consumer.clean, one.soname or one.name)
    if other is None or other.path == one.path:
        outside = one.found.rule in (Rule.ENVIRONMENT, Rule.CACHE, Rule.DEFAULT)
        return Member(one, file, outside or one.found.preload is not None, None)
    twin = consumer.libraries.get(other.path)
    if twin is not None and same(file, twin):
        # A copy of the same build is as good as the packages' own, whatever version its place gives it.
        return Member(one, twin, stranger=False, wanted=other.path)
    return Member(one, file, stranger=True, wanted=other.path)
