"""Progress on a terminal: a line an archive, and a total; nothing moves in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.fetch import Event, Finished, Progress, Retrying, Started

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from rich.progress import Progress as Bars
    from rich.progress import TaskID


# Columns of a terminal below which the bar goes, then the speed.
_FOR_BARS, _FOR_SPEED = 84, 56


class Notes:
    """Where nothing may move: a line for what a person would wonder about, which is why it takes so long."""

    def __init__(self, names: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self._names = names
        self._tell = tell
        self._told: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Tell of one event; the same failure again is no news."""
        if isinstance(event, Retrying):
            if self._told.get(event.sha256) != event.reason:
                self._tell(f"{self._names[event.sha256]}: {event.reason}; trying again")
            self._told[event.sha256] = event.reason


class Lines:
    """Progress with rich: `names` and `sizes` map the hash of an archive to what is shown of it."""

    def __init__(self, names: Mapping[str, str], sizes: Mapping[str, int]) -> None:
        self._names = names
        self._sizes = sizes
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}
        self._finished = 0
        self._bars = _bars()
        self._notes = Notes(names, self._print)
        self._total = self._bars.add_task(self._counted(), total=sum(sizes.values()))

    def __enter__(self) -> Lines:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        self._notes(event)
        if isinstance(event, Started):
            if event.sha256 not in self._tasks:
                self._tasks[event.sha256] = self._bars.add_task(
                    self._names[event.sha256], total=self._sizes[event.sha256] or None
                )
            self._advance(event.sha256, event.bytes)
        elif isinstance(event, Progress):
            self._advance(event.sha256, event.bytes)
        elif isinstance(event, Finished):
            self._finished += 1
            self._advance(event.sha256, self._sizes[event.sha256])
            self._bars.remove_task(self._tasks.pop(event.sha256))

    def _advance(self, sha256: str, done: int) -> None:
        if sha256 in self._tasks:
            self._bars.update(self._tasks[sha256], completed=done)
        self._done[sha256] = done
        self._bars.update(self._total, completed=sum(self._done.values()), description=self._counted())

    def _counted(self) -> str:
        return f"{self._finished} of {len(self._sizes)} archives"

    def _print(self, text: str) -> None:
        self._bars.console.print(text, style="yellow", highlight=False, markup=False, soft_wrap=True)


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.table import Column

    console = Console(stderr=True)
    columns: list[ProgressColumn] = [
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
    ]
    if console.width >= _FOR_BARS:
        columns.append(BarColumn(bar_width=24))
    columns.append(DownloadColumn(table_column=Column(no_wrap=True, justify="right")))
    if console.width >= _FOR_SPEED:
        columns.append(TransferSpeedColumn(table_column=Column(no_wrap=True, justify="right")))
        columns.append(TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)))
    return Progress(*columns, console=console, transient=True)
