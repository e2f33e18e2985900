"""Looking up what files want from each other before anything runs: versions first, then every symbol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.hashes import gnu_hash
from cvm.elf.outcome import Failure, Kind, MissingSymbol, MissingVersion, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cvm.elf.elf import Elf
    from cvm.elf.mapped import Mapped
    from cvm.elf.symbols import Undefined


class Unresolved(NamedTuple):
    """The symbols of one file that nothing defines: those that stop the load, and those that a call would stop at."""

    now: tuple[MissingSymbol, ...]
    later: tuple[MissingSymbol, ...]


class VersionCheck(NamedTuple):
    """What the versions that a file needs come to, and what the loader prints of it at a start."""

    missing: tuple[MissingVersion, ...]
    printed: tuple[str, ...]


# What came of lookups by file, what it is called, whether lazily, and the files looked in: of use to processes that
# load the same, which is most of the work.
Lookups = dict[tuple["Elf", str, bool, "tuple[Elf, ...]"], Unresolved]


class Scope:
    """The files in which a load looks its symbols up."""

    def __init__(
        self, providers: Sequence[Mapped], named: Callable[[str], Mapped | None], lookups: Lookups | None = None
    ) -> None:
        self.providers = tuple(one for one in dict.fromkeys(providers) if one.elf.tags)
        self.named = named
        self._elves = tuple(one.elf for one in self.providers)
        self._lookups = {} if lookups is None else lookups
        # Whether it was asked what a name means: that depends on more than the files.
        self._names_count = False
        # For each library that versions are needed from, who answered last is asked first: it nearly always answers.
        self._recent: dict[bytes | None, list[Mapped]] = {}

    def unresolved(self, mapped: Mapped, *, lazy: bool) -> Unresolved:
        """Return what a file misses, in the order of its relocations."""
        key = mapped.elf, mapped.shown, lazy, self._elves
        known = self._lookups.get(key)
        if known is None:
            self._names_count = False
            known = self._look_up(mapped, lazy=lazy)
            if not self._names_count:
                self._lookups[key] = known
        return known

    def _look_up(self, mapped: Mapped, *, lazy: bool) -> Unresolved:
        missing: dict[int, MissingSymbol] = {}
        for wanted in mapped.elf.undefined:
            provider = None if wanted.weak else self._provider(wanted)
            if not wanted.weak and provider is None:
                missing[wanted.number] = _missing(mapped, wanted)
            elif provider is not None and self._is_inconsistent(provider, wanted):
                missing[wanted.number] = _missing(mapped, wanted)._replace(inconsistent=True)
        if not missing:
            return Unresolved((), ())
        dynamic = mapped.dynamic
        return _by_relocation(mapped, missing, lazy=lazy and not (dynamic and dynamic.bind_now))

    def _provider(self, wanted: Undefined) -> Mapped | None:
        """Return a file that defines the symbol, not always the one that the loader would bind to."""
        hashed = gnu_hash(wanted.name)
        recent = self._recent.get(wanted.file)
        if recent is None:
            recent = self._recent[wanted.file] = list(self.providers)
        for place, one in enumerate(recent):
            if _offers(one, wanted, hashed):
                if place:
                    recent.insert(0, recent.pop(place))
                return one
        return None

    def _is_inconsistent(self, one: Mapped, wanted: Undefined) -> bool:
        """Whether the search comes to the library that should have the version, and that one lost all of them."""
        if wanted.file is None or one.elf.versions.symbols is not None:
            return False
        self._names_count = True
        if self.named(os.fsdecode(wanted.file)) is not one:
            return False
        hashed = gnu_hash(wanted.name)
        return not any(_offers(other, wanted, hashed) for other in self.providers[: self.providers.index(one)])


def _offers(one: Mapped, wanted: Undefined, hashed: int) -> bool:
    return one.elf.symbols.defines(wanted.name, hashed, wanted.version, hidden=wanted.hidden)


def _by_relocation(mapped: Mapped, missing: dict[int, MissingSymbol], *, lazy: bool) -> Unresolved:
    """Sort missing symbols by the first relocation that names each; what none names does no harm."""
    now: dict[int, None] = {}
    later: dict[int, None] = {}
    for reference in mapped.elf.references():
        if reference.symbol in missing:
            (later if lazy and reference.lazy else now)[reference.symbol] = None
    return Unresolved(
        tuple(missing[number] for number in now), tuple(missing[number] for number in later if number not in now)
    )


def _missing(mapped: Mapped, one: Undefined) -> MissingSymbol:
    version, file = (None if text is None else os.fsdecode(text) for text in (one.version, one.file))
    return MissingSymbol(mapped.shown, os.fsdecode(one.name), version, file)


def check_versions(mapped: Mapped, named: Callable[[str], Mapped | None]) -> VersionCheck:
    """Compare the version nodes that a file needs with those that the winners define; raises Refused."""
    missing: list[MissingVersion] = []
    printed: list[str] = []
    for library, node, weak in _needed_versions(mapped, named):
        defined = library.elf.versions.defined
        if not defined:
            printed.append(f"{library.shown}: no version information available (required by {mapped.shown})")
        elif all(one.name != node for one in defined):
            one = MissingVersion(library.shown, os.fsdecode(node), mapped.shown)
            printed.append(one.text.replace(": version", ": weak version") if weak else one.text)
            missing += () if weak else (one,)
    return VersionCheck(tuple(missing), tuple(printed))


def _needed_versions(mapped: Mapped, named: Callable[[str], Mapped | None]) -> Iterator[tuple[Mapped, bytes, bool]]:
    if not mapped.elf.tags:
        return
    for node in mapped.elf.versions.needed:
        library = named(os.fsdecode(node.file))
        if library is None:
            # As after a tool renamed an entry of NEEDED and left the versions alone.
            text = "_dl_check_map_versions: Assertion `needed != NULL' failed!"
            raise Refused(Failure(Kind.ABORT, f"Inconsistency detected by ld.so: dl-version.c: {text}"))
        yield library, node.name, node.weak
