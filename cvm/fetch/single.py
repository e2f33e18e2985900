"""Bringing one archive into the store."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from cvm.errors import IntegrityError
from cvm.fetch.ahead import ahead
from cvm.fetch.jobs import Event, Finished, Progress, Retrying, Started, Task
from cvm.net.stream import stream
from cvm.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cvm.layout import Layout
    from cvm.net.client import Client

_EVERY = 0.1
_SLACK = 64 << 20


class Reporter:
    """Turns what a download tells into events, with about ten a second of progress."""

    def __init__(self, sha256: str, on_event: Callable[[Event], None]) -> None:
        self._sha256 = sha256
        self._on_event = on_event
        self._next = 0.0

    def started(self, here: int) -> None:
        """Bytes begin to come."""
        self._on_event(Started(self._sha256, here))

    def progress(self, here: int) -> None:
        """So many bytes are here."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY
            self._on_event(Progress(self._sha256, here))

    def retrying(self, reason: str) -> None:
        """A try failed."""
        self._on_event(Retrying(self._sha256, reason))


def fetch_one(task: Task, layout: Layout, client: Client, on_event: Callable[[Event], None]) -> None:
    """Download, check and unpack an archive; `on_event` may be called from another thread.

    Bytes of an earlier try that turn out wrong are thrown away, and all is fetched once more. Raises CvmError.
    """
    part = layout.part(task.wanted.sha256)
    reporter = Reporter(task.wanted.sha256, on_event)
    resumed = _size(part) > 0
    try:
        _add(task, layout, client, reporter)
    except IntegrityError:
        part.unlink(missing_ok=True)
        if not resumed:
            raise
        reporter.retrying("what was here of it already is damaged")
        _add(task, layout, client, reporter)
    part.unlink(missing_ok=True)
    on_event(Finished(task.wanted.sha256))


def unpacked_limit(task: Task) -> int | None:
    """Return how many bytes an archive may unpack to: no more than it should, or than compression can explain."""
    if task.unpacked:
        return task.unpacked + task.unpacked // 8 + _SLACK
    return 200 * task.wanted.size + (1 << 30) if task.wanted.size else None


def _add(task: Task, layout: Layout, client: Client, reporter: Reporter) -> None:
    wanted = task.wanted
    source = stream(wanted, task.location, layout.part(wanted.sha256), client, reporter)
    with closing(ahead(source)) as blocks:
        try:
            Store(layout).add(wanted.sha256, wanted.filename, blocks, limit=unpacked_limit(task))
        except IntegrityError:
            # An archive that can't be read is most likely another file: its hash tells, and is the better message.
            for _ in blocks:
                pass
            raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
