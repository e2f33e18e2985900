"""The files of one process by their names, and the requests that led to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.elf.found import Found, Rule
from cvm.elf.outcome import Request

if TYPE_CHECKING:
    from cvm.elf.files import Identity
    from cvm.elf.mapped import Mapped


class Space:
    """What is loaded, in the loader's order, with every name that a request would match."""

    def __init__(self) -> None:
        self.objects: list[Mapped] = []
        self.requests: list[Request] = []
        self._names: dict[str, Mapped] = {}

    def named(self, name: str) -> Mapped | None:
        """Return the file that a request by this name finds loaded."""
        return self._names.get(name)

    def same_file(self, identity: Identity | int) -> Mapped | None:
        """Return the loaded file that is this very file, by whatever path."""
        return next((one for one in self.objects if one.identity == identity), None)

    def add(self, one: Mapped) -> None:
        """Put a file behind the others; a name that an earlier one has stays that one's."""
        self.objects.append(one)
        self._register(one)

    def rename(self, one: Mapped, name: str) -> None:
        """Let a loaded file answer to one more name."""
        one.names.append(name)
        self._names.setdefault(name, one)

    def note(self, requester: Mapped, name: str, one: Mapped, *, new: bool) -> Mapped:
        """Write down who asked for what, and return the file that answered."""
        found = one.found if new else Found(Rule.LOADED, name, owner=one.path)
        self.requests.append(Request(requester.path, name, one.path, found))
        return one

    def mark(self) -> tuple[int, int]:
        """Return the state to go back to."""
        return len(self.objects), len(self.requests)

    def roll_back(self, mark: tuple[int, int]) -> None:
        """Forget what was added since a mark."""
        gone = set(self.objects[mark[0] :])
        del self.objects[mark[0] :], self.requests[mark[1] :]
        self._names = {}
        for one in self.objects:
            self._register(one)
            # A file that was loaded as a dependency before has no list of its own again.
            if one.searchlist is not None and not gone.isdisjoint(one.searchlist):
                one.searchlist = None

    def _register(self, one: Mapped) -> None:
        for name in (*one.names, *([one.soname] if one.soname else ())):
            self._names.setdefault(name, one)
