"""A process of the model that a recipe drives, load by load, as the consumer's own code would."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.initialisers import opened_by
from cvm.consumers.load import Load, Step
from cvm.elf.process import Mode, Process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.core.packages import PythonEnvironment
    from cvm.elf.binding import Lookups
    from cvm.elf.files import Files
    from cvm.elf.outcome import Outcome
    from cvm.elf.runtime import Runtime

# What takes part in the loader's search; without them a process is `clean`.
LOADER_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD")


class World(NamedTuple):
    """Where a consumer runs: files, the program that is started, the loader that it names, variables and folder.

    Sessions in one world share its `lookups`; None is for a world that has one session only.
    """

    files: Files
    program: str
    runtime: Runtime
    environment: Mapping[str, str]
    folder: str = "/"
    python: PythonEnvironment | None = None
    lookups: Lookups | None = None

    @property
    def clean(self) -> World:
        """The same world without the variables that change the loader's search."""
        return self._replace(environment={k: v for k, v in self.environment.items() if k not in LOADER_VARIABLES})


class LoadError(Exception):
    """The consumer's code gives up: the text is the last line of what a person would see."""


class Session:
    """One process, and what was loaded in it so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.process = Process(
            world.program,
            world.runtime,
            world.files,
            environment=world.environment,
            folder=world.folder,
            lookups=world.lookups,
        )
        self.steps: list[Step] = []
        self.unknown: list[str] = []
        self.complaint: str | None = None
        self._imported: int | None = None

    def open(
        self,
        name: str,
        call: str,
        source: str,
        *,
        mode: Mode = Mode.NOW,
        caller: str | None = None,
        handled: bool = False,
    ) -> Outcome:
        """Open a library as the consumer's code does at `source`, and note it; see `Process.dlopen`."""
        outcome = self.process.dlopen(name, mode, caller)
        self._note(call, source, outcome, handled=handled)
        if outcome.ok:
            self._initialise(outcome)
        return outcome

    def _note(self, call: str, source: str, outcome: Outcome, *, handled: bool) -> None:
        self.steps.append(Step(call, source, outcome, handled, first_use=self._imported is not None))

    def _initialise(self, outcome: Outcome) -> None:
        """Open what the new files' initialisers do; without it they get along."""
        for one, name in opened_by(outcome.loaded, self.world.files):
            opened = self.process.dlopen(name, Mode.LAZY, one.path)
            if opened.ok:
                self._note(f'dlopen("{name}")', one.path, opened, handled=True)

    def cannot_tell(self, sentence: str) -> None:
        """Note what could not be followed."""
        if sentence not in self.unknown:
            self.unknown.append(sentence)

    def complains(self, text: str | None) -> None:
        """Note what a person sees when the import succeeds and the first use fails; the first text counts."""
        self.complaint = self.complaint or text

    def import_ends(self) -> None:
        """Say that whatever is opened from here on is opened at the first use."""
        if self._imported is None:
            self._imported = len(self.process.loaded)

    def import_goes_on(self) -> None:
        """Take back `import_ends`: what follows is the import of another package in the same process."""
        self._imported = None

    def result(self, error: str | None) -> Load:
        """Return what came of it all."""
        loaded = self.process.loaded
        imported = len(loaded) if self._imported is None else self._imported
        return Load(tuple(self.steps), error, loaded, imported, tuple(self.unknown), self.process.started)
