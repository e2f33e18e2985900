"""Where the loader looks for a name, in its order, and the first file there that it would take."""

from __future__ import annotations

import errno
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.found import Found, Place, Rule
from cvm.elf.header import judge
from cvm.elf.outcome import Failure, Kind, Missing, Refused, with_reason
from cvm.elf.tokens import expand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cvm.elf.elf import Elf
    from cvm.elf.files import Files
    from cvm.elf.mapped import Mapped
    from cvm.elf.runtime import Runtime

_SEPARATORS = re.compile("[:;]")


class Hit(NamedTuple):
    """The file that answers a name: its path as the loader spells it."""

    path: str
    elf: Elf
    found: Found


class Search:
    """The search of one process: what its environment and program add to the loader's own folders."""

    def __init__(self, runtime: Runtime, files: Files, folder: str, program: Mapped, library_path: str) -> None:
        self.runtime = runtime
        self.files = files
        self.folder = folder
        self.program = program
        self._paths: dict[tuple[Mapped, Rule], tuple[Place, ...]] = {}
        self._existing: dict[str, tuple[str, ...]] = {}
        elements = _SEPARATORS.split(library_path) if library_path else ()
        self._environment = self._places(elements, Rule.ENVIRONMENT, program)
        self._default = tuple(Place(Found(Rule.DEFAULT, place.rstrip("/")), place) for place in runtime.folders)

    def find(self, requester: Mapped, name: str) -> Hit:
        """Return the file that the loader takes for a name; raises Refused."""
        attempt = _Attempt(self, requester, name)
        hit = attempt.by_path() if "/" in name else attempt.by_search()
        if hit is None:
            raise Refused(attempt.failure())
        return hit

    def places(self, requester: Mapped, name: str) -> Iterator[Sequence[Place]]:
        """Yield the lists of folders that are searched for a name, in order; the cache's file is a place of its own."""
        yield from self.rpaths(requester)
        yield self._environment
        yield self._path(requester, Rule.RUNPATH)
        dynamic = requester.dynamic
        bare = dynamic is not None and dynamic.no_default_folders
        cached = self._cached(name)
        if cached is not None and not (bare and cached.startswith(self.runtime.folders)):
            yield (Place(Found(Rule.CACHE), cached),)
        if not bare:
            yield self._default

    def rpaths(self, requester: Mapped) -> Iterator[Sequence[Place]]:
        """Yield the RPATHs up the chain of loaders, and the program's; none for a requester with a RUNPATH."""
        if requester.dynamic is not None and requester.dynamic.runpath is not None:
            return
        asked = list(requester.chain())
        for one in asked:
            yield self._path(one, Rule.RPATH)
        if self.program not in asked:
            yield self._path(self.program, Rule.RPATH)

    def existing(self, place: str) -> tuple[str, ...]:
        """Return the folders of a place that are there: those for this processor first."""
        known = self._existing.get(place)
        if known is None:
            folders = (place + below for below in self.runtime.subfolders)
            known = tuple(path for path in folders if self.files.is_folder(self.absolute(path) or "/"))
            self._existing[place] = known
        return known

    def absolute(self, path: str) -> str:
        """Return a path as the process would open it."""
        return path if path.startswith("/") else posixpath.join(self.folder, path)

    def expand(self, text: str, owner: Mapped) -> str:
        """Replace the tokens in a name or path of a file."""
        values = {"ORIGIN": owner.origin, "LIB": self.runtime.library, "PLATFORM": self.runtime.platform}
        return expand(text, values)

    def _cached(self, name: str) -> str | None:
        runtime = self.runtime
        return runtime.cache and runtime.cache.find(name, runtime.machine, runtime.bits, runtime.hwcaps)

    def _path(self, owner: Mapped, rule: Rule) -> tuple[Place, ...]:
        key = owner, rule
        if key not in self._paths:
            dynamic = owner.dynamic
            text = dynamic and (dynamic.rpath if rule is Rule.RPATH else dynamic.runpath)
            self._paths[key] = self._places(text.split(":"), rule, owner) if text else ()
        return self._paths[key]

    def _places(self, elements: Sequence[str], rule: Rule, owner: Mapped) -> tuple[Place, ...]:
        """Turn the elements of a path into folders; an empty one is the current folder, equal ones count once."""
        owner_name = None if rule is Rule.ENVIRONMENT else owner.path
        places: dict[str, Place] = {}
        for index, element in enumerate(elements):
            folder = self.expand(element, owner)
            if folder or not element:
                if folder:
                    folder = folder.rstrip("/") + "/"
                places.setdefault(folder, Place(Found(rule, element, index, owner_name), folder))
        return tuple(places.values())


class _Attempt:
    """One search for one name."""

    def __init__(self, search: Search, requester: Mapped, name: str) -> None:
        self.search = search
        self.requester = requester
        self.name = name
        # Where nothing at all is searched, the loader has no error number to name.
        self.error = 0
        self.other_class: str | None = None

    def by_path(self) -> Hit | None:
        path = self.search.expand(self.name, self.requester)
        elf = self._open(path)
        return None if elf is None else Hit(path, elf, Found(Rule.PATH))

    def by_search(self) -> Hit | None:
        for places in self.search.places(self.requester, self.name):
            hit = self._among(places)
            if hit is not None:
                return hit
        return None

    def failure(self) -> Failure:
        if self.other_class:
            text = f"{self.name}: wrong ELF class: {self.other_class}"
        else:
            text = with_reason(f"{self.name}: cannot open shared object file", self.error)
        lists = () if "/" in self.name else self.search.places(self.requester, self.name)
        places = tuple(place for places in lists for place in places)
        missing = Missing(self.requester.path, self.name, places, text)
        return Failure(Kind.LIBRARY, text, libraries=(missing,))

    def _among(self, places: Sequence[Place]) -> Hit | None:
        for place in places:
            self.error = errno.ENOENT
            for path in self._candidates(place):
                elf = self._open(path)
                if elf is not None:
                    return Hit(path, elf, place.found)
                if self.error not in (errno.ENOENT, errno.EACCES):
                    # The loader gives up the rest of this list, and goes on with the next.
                    return None
        return None

    def _candidates(self, place: Place) -> Iterator[str]:
        if place.found.rule is Rule.CACHE:
            yield place.path
            return
        for folder in self.search.existing(place.path):
            yield folder + self.name

    def _open(self, path: str) -> Elf | None:
        """Return the file if the loader takes it, None if it goes on; raises Refused where it gives up."""
        files, absolute = self.search.files, self.search.absolute(path)
        found = files.identity(absolute)
        if isinstance(found, int):
            self.error = found
            return None
        try:
            elf = files.elf(absolute)
        except IsADirectoryError as error:
            raise Refused(_bad(path, with_reason("cannot read file data", error.errno or 0))) from None
        except OSError as error:
            self.error = error.errno or errno.ENOENT
            return None
        return elf if self._takes(path, elf) else None

    def _takes(self, path: str, elf: Elf) -> bool:
        verdict = judge(elf, self.search.runtime)
        if verdict.fatal:
            raise Refused(_bad(path, verdict.fatal))
        self.error = errno.ENOENT
        self.other_class = verdict.other_class or self.other_class
        return verdict.usable


def _bad(path: str, reason: str) -> Failure:
    return Failure(Kind.FILE, f"{path}: {reason}")
