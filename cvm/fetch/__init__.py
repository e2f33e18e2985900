"""Bringing archives into the store: side by side, resumed where an earlier try stopped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cvm.fetch.jobs import Event, FetchJob, Finished, Progress, Retrying, Started

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cvm.layout import Layout

__all__ = ["Event", "FetchJob", "Finished", "Progress", "Retrying", "Started", "default_workers", "fetch_all"]

# Below that, starting processes takes longer than they save.
_SMALL = 20_000_000
_MOST_WORKERS = 4


def fetch_all(
    jobs: Sequence[FetchJob], layout: Layout, *, workers: int | None = None, on_event: Callable[[Event], None]
) -> None:
    """Download, check and unpack archives into the store, the largest first.

    The first failure stops everything and is raised as the CvmError it was; so is ^C. Nothing of an archive that isn't
    whole stays in the store, and what was downloaded of it stays in the cache for the next call. `on_event` is called
    in this process, one event at a time.
    """
    ordered = sorted({job.sha256: job for job in jobs}.values(), key=lambda job: -(job.unpacked or job.size))
    count = min(workers or default_workers(), len(ordered))
    if count < 2 or sum(job.size for job in ordered) < _SMALL:
        _run_here(ordered, layout, on_event)
    else:
        from cvm.fetch.pool import run

        run(ordered, layout, count, on_event)


def default_workers() -> int:
    """One more than there are cores to use, so that waiting for a server costs nothing; four are enough for a disk."""
    return min(len(os.sched_getaffinity(0)) + 1, _MOST_WORKERS)


def _run_here(jobs: Sequence[FetchJob], layout: Layout, on_event: Callable[[Event], None]) -> None:
    from cvm.fetch.jobs import Task
    from cvm.fetch.single import fetch_one
    from cvm.net.client import Client, Policy

    client = Client(os.environ, Policy.from_environment(os.environ))
    try:
        for job in jobs:
            fetch_one(Task(job.wanted, job.locate(), job.unpacked), layout, client, on_event)
    finally:
        client.close()
