"""Progress on a terminal: a line an archive, and a total; nothing moves in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.fetch import Event, Finished, Progress, Retrying, Started

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Lines:
    """Progress with rich: `names` and `sizes` map the hash of an archive to what is shown of it."""

    def __init__(self, names: Mapping[str, str], sizes: Mapping[str, int]) -> None:
        self._names = names
        self._sizes = sizes
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}
        self._bars = _bars()
        self._total = self._bars.add_task("total", total=sum(sizes.values()))

    def __enter__(self) -> Lines:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        if isinstance(event, Started):
            self._tasks[event.sha256] = self._bars.add_task(
                self._names[event.sha256], total=self._sizes[event.sha256] or None
            )
            self._advance(event.sha256, event.bytes)
        elif isinstance(event, Progress):
            self._advance(event.sha256, event.bytes)
        elif isinstance(event, Finished):
            self._advance(event.sha256, self._sizes[event.sha256])
            self._bars.remove_task(self._tasks.pop(event.sha256))
        elif isinstance(event, Retrying):
            self._bars.console.print(f"{self._names[event.sha256]}: {event.reason}; trying again", style="yellow")

    def _advance(self, sha256: str, done: int) -> None:
        if sha256 in self._tasks:
            self._bars.update(self._tasks[sha256], completed=done)
        self._done[sha256] = done
        self._bars.update(self._total, completed=sum(self._done.values()))


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}", justify="left"),
        BarColumn(bar_width=24),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
