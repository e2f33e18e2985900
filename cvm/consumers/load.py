"""What came of a consumer's load: every step of it, and what a person would see at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cvm.elf.outcome import Loaded, Outcome


class Step(NamedTuple):
    """One load that the consumer's code makes.

    `call` is how the code puts it (`import torch._C`, `ctypes.CDLL('libcublas.so.12')`, `dlopen("libcudnn_ops.so.9")`);
    `source` is where it stands: `torch/__init__.py:237`, or the path of the ELF file that has the name in its data.
    `handled`: the code goes on when this fails. `first_use`: it happens at the first use, not at the import.
    """

    call: str
    source: str
    outcome: Outcome
    handled: bool = False
    first_use: bool = False


class Load(NamedTuple):
    """A whole load sequence: `error` is the last line that a person would see, None where the import succeeds.

    `loaded` is everything in the process at the end, in the loader's order; `imported` is how many of those the import
    alone brought (the rest comes with the first use). `unknown` says what could not be followed, one sentence each.
    `started` is what came of the program's own start, before any step.
    """

    steps: tuple[Step, ...]
    error: str | None
    loaded: tuple[Loaded, ...]
    imported: int
    unknown: tuple[str, ...] = ()
    started: Outcome | None = None

    @property
    def failed(self) -> Step | None:
        """The step that ends the load."""
        if self.error is None:
            return None
        return next((step for step in reversed(self.steps) if not step.outcome.ok and not step.handled), None)

    @property
    def seen(self) -> tuple[Loaded, ...]:
        """Every file that was in the process at some time, also of loads that failed, each path once."""
        outcomes = (*((self.started,) if self.started else ()), *(step.outcome for step in self.steps))
        files = {one.path: one for one in self.loaded}
        for outcome in outcomes:
            for one in outcome.loaded:
                files.setdefault(one.path, one)
        return tuple(files.values())
