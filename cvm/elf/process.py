"""A process as glibc's loader sees it: started, then changed by each dlopen."""

from __future__ import annotations

import posixpath
import re
from enum import IntFlag
from typing import TYPE_CHECKING

from cvm.elf.binding import Scope, check_versions
from cvm.elf.error import ElfError
from cvm.elf.found import Found, Rule
from cvm.elf.header import cut_off, unmappable
from cvm.elf.mapped import Mapped
from cvm.elf.order import relocation_order
from cvm.elf.outcome import Failure, Kind, Outcome, Refused, merged
from cvm.elf.search import Search
from cvm.elf.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cvm.elf.binding import Lookups
    from cvm.elf.files import Files
    from cvm.elf.outcome import Loaded, MissingSymbol, MissingVersion
    from cvm.elf.runtime import Runtime
    from cvm.elf.search import Hit

    Result = tuple[Mapped | None, tuple[MissingSymbol, ...]]

_PRELOAD_SEPARATORS = re.compile("[ :]+")


class Mode(IntFlag):
    """The modes of dlopen, by their numbers in dlfcn.h."""

    LOCAL = 0
    LAZY = 1
    NOW = 2
    NOLOAD = 4
    GLOBAL = 0x100


class Process:
    """One process: what is loaded, in which order, and who sees whose symbols.

    Processes that share `files` and load much the same are faster with one dictionary of `lookups` between them.
    """

    def __init__(  # noqa: PLR0913 - what execve takes, and what the model needs
        self,
        program: str,
        runtime: Runtime,
        files: Files,
        *,
        environment: Mapping[str, str] | None = None,
        folder: str = "/",
        argv0: str | None = None,
        lookups: Lookups | None = None,
    ) -> None:
        self._lookups = {} if lookups is None else lookups
        self.runtime = runtime
        self.files = files
        self.environment = environment or {}
        self._space = Space()
        self._global: list[Mapped] = []
        self._warnings: list[str] = []
        self._program = self._map_program(program, folder, argv0 or program)
        library_path = self.environment.get("LD_LIBRARY_PATH", "")
        self._search = Search(runtime, files, folder, self._program, library_path)
        self.started = self._attempt(program, self._start)

    @property
    def loaded(self) -> tuple[Loaded, ...]:
        """Everything in the process, in the loader's order, the program first."""
        return tuple(one.value() for one in self._space.objects)

    def find(self, name: str) -> Loaded | None:
        """Return what a name (a path, soname or requested name) means in the process by now."""
        one = self._space.named(name)
        return None if one is None else one.value()

    def dlopen(self, name: str, mode: Mode = Mode.NOW, caller: str | None = None) -> Outcome:
        """Open a library as a call from `caller` (a path or name in the process; the program by default) would.

        After a failure the process is as it was before. Raises KeyError for a caller that isn't loaded.
        """
        asking = self._program if caller is None else self._space.named(caller)
        if asking is None:
            raise KeyError(caller)
        return self._attempt(name, lambda: self._open(name, mode, asking))

    def _attempt(self, name: str, act: Callable[[], Result]) -> Outcome:
        mark = self._space.mark()
        result: Result = None, ()
        failure: Failure | None = None
        try:
            result = act()
        except Refused as refused:
            failure = refused.failure
        except ElfError as error:
            failure = Failure(Kind.DAMAGED, error.message)
        root, unbound = result
        warnings, self._warnings = tuple(self._warnings), []
        loaded = tuple(one.value() for one in self._space.objects[mark[0] :])
        requests = tuple(self._space.requests[mark[1] :])
        if failure is not None:
            self._space.roll_back(mark)
        return Outcome(name, failure, None if root is None else root.value(), loaded, requests, unbound, warnings)

    # -- the start

    def _map_program(self, program: str, folder: str, argv0: str) -> Mapped:
        path = self.files.real(posixpath.join(folder, program))
        one = Mapped(path, self.files.elf(path), Found(Rule.PROGRAM), name=program, folder=folder)
        # In its messages the loader calls the program by its first argument.
        one.shown = argv0
        # Unlike a library's, the program's path is no name that a request could match.
        one.names = []
        one.in_global = True
        self._space.add(one)
        return one

    def _start(self) -> Result:
        self._add_interpreter()
        group = self._gather(self._program, self._preload())
        self._program.searchlist = tuple(group)
        self._check_versions(self._space.objects, self._warnings)
        self._global = group
        for one in group:
            one.in_global = True
        return self._program, self._relocate(group, Mode.LAZY)

    def _add_interpreter(self) -> None:
        path = self._program.elf.interpreter
        if path is None or isinstance(self.files.identity(path), int):
            return
        one = Mapped(path, self.files.elf(path), Found(Rule.INTERPRETER), name=path, folder="/")
        one.relocated = True
        self._space.add(one)

    def _preload(self) -> list[Mapped]:
        names = _PRELOAD_SEPARATORS.split(self.environment.get("LD_PRELOAD", ""))
        wanted = [(name, "LD_PRELOAD") for name in names if name]
        wanted += [(name, "/etc/ld.so.preload") for name in self.runtime.preload]
        loaded: dict[Mapped, None] = {}
        for name, source in wanted:
            try:
                loaded[self._map(self._program, name, self._program, preload=source)] = None
            except Refused as refused:
                reason = refused.failure.text.rpartition(f"{name}: ")[2].partition(": ")[0]
                self._warnings.append(
                    f"ERROR: ld.so: object '{name}' from {source} cannot be preloaded ({reason}): ignored."
                )
        return [one for one in loaded if one is not self._program]

    # -- dlopen

    def _open(self, name: str, mode: Mode, caller: Mapped) -> Result:
        if mode & Mode.NOLOAD and not self._is_loaded(caller, name):
            return None, ()
        root = self._map(caller, name, None, opened=True)
        unbound: tuple[MissingSymbol, ...] = ()
        if root.searchlist is None:
            group = self._gather(root, ())
            root.searchlist = tuple(group)
            self._check_versions(group, [])
            unbound = self._relocate(group, mode)
        if mode & Mode.GLOBAL:
            self._publish(root.searchlist)
        return root, unbound

    def _is_loaded(self, caller: Mapped, name: str) -> bool:
        if self._space.named(name) is not None:
            return True
        path = self._search.absolute(self._search.find(caller, name).path)
        return self._space.same_file(self.files.identity(path)) is not None

    def _publish(self, group: Sequence[Mapped]) -> None:
        for one in group:
            if not one.in_global:
                one.in_global = True
                self._global.append(one)

    # -- both

    def _gather(self, root: Mapped, preloads: Sequence[Mapped]) -> list[Mapped]:
        """Load what is needed, breadth first; after the first failure go on, to know everything that is missing."""
        queue = list(dict.fromkeys((root, *preloads)))
        seen = set(queue)
        failures: list[Failure] = []
        for one in queue:
            found = [other for name in _needed(one) if (other := self._need(one, name, failures))]
            for other in found:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
            if one.needed is None:
                one.needed = found
        if failures:
            raise Refused(merged(failures))
        return queue

    def _need(self, requester: Mapped, needed: str, failures: list[Failure]) -> Mapped | None:
        name = self._search.expand(needed, requester)
        if not name:
            return None
        try:
            return self._map(requester, name, requester, opened=self._program.searchlist is not None)
        except Refused as refused:
            failures.append(refused.failure)
            return None

    def _map(
        self, requester: Mapped, name: str, loader: Mapped | None, *, opened: bool = False, preload: str | None = None
    ) -> Mapped:
        """Return the file for a name: one that is loaded already, or a new one; raises Refused."""
        known = self._space.named(name)
        if known is not None:
            return self._space.note(requester, name, known, new=False)
        hit = self._search.find(requester, name)
        identity = self.files.identity(self._search.absolute(hit.path))
        known = self._space.same_file(identity)
        if known is not None:
            self._space.rename(known, name)
            return self._space.note(requester, name, known, new=False)
        one = self._new(name, hit, opened=opened)
        one.found = hit.found._replace(preload=preload)
        one.requester, one.loader = requester, loader
        one.identity = None if isinstance(identity, int) else identity
        self._space.add(one)
        return self._space.note(requester, name, one, new=True)

    def _new(self, name: str, hit: Hit, *, opened: bool) -> Mapped:
        reason = unmappable(hit.elf)
        if reason is None and opened and hit.elf.dynamic and hit.elf.dynamic.no_open:
            reason = "shared object cannot be dlopen()ed"
        if reason is not None:
            raise Refused(Failure(Kind.FILE, f"{name}: {reason}"))
        if cut_off(hit.elf):
            raise Refused(Failure(Kind.DAMAGED, f"{hit.path}: the file ends before its segments do"))
        return Mapped(hit.path, hit.elf, hit.found, name=name, folder=self._search.folder)

    def _check_versions(self, group: Sequence[Mapped], printed: list[str]) -> None:
        """Check versions before anything is relocated; raises Refused."""
        missing: list[MissingVersion] = []
        for one in group:
            if not one.relocated:
                check = check_versions(one, self._space.named)
                missing += check.missing
                printed += check.printed
        if missing:
            raise Refused(Failure(Kind.VERSION, missing[0].text, versions=tuple(missing)))

    def _relocate(self, group: Sequence[Mapped], mode: Mode) -> tuple[MissingSymbol, ...]:
        """Look every symbol of the new files up; return the functions that only a call would miss; raises Refused."""
        scope = Scope((*self._global, *group), self._space.named, self._lookups)
        lazy = not mode & Mode.NOW and not self.environment.get("LD_BIND_NOW")
        now: list[MissingSymbol] = []
        later: list[MissingSymbol] = []
        new = [one for one in relocation_order(group, self.runtime.glibc) if not one.relocated]
        for one in new:
            unresolved = scope.unresolved(one, lazy=lazy)
            now += unresolved.now
            later += unresolved.later
        if now:
            kind = Kind.ABORT if now[0].inconsistent else Kind.SYMBOL
            raise Refused(Failure(kind, now[0].text, symbols=tuple(now)))
        for one in new:
            one.relocated = True
        return tuple(later)


def _needed(one: Mapped) -> Sequence[str]:
    return one.dynamic.needed if one.dynamic else ()
