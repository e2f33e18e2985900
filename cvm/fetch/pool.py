"""The worker processes, seen from their parent.

Processes, not threads: unpacking holds the interpreter's lock between the calls that do the work, and two threads took
a fifth longer than three processes (measured).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from cvm.errors import CvmError
from cvm.fetch.jobs import Event, Finished, Progress, Retrying, Started, Task
from cvm.fetch.locator import Locator
from cvm.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cvm.fetch.jobs import FetchJob
    from cvm.layout import Layout

_BOOT = """\
import sys
sys.path[:] = sys.argv[4:]
from cvm.fetch.worker import main
main(*map(int, sys.argv[1:4]))
"""
_POLL, _IDLE = 0.02, 1.0

# The largest archives go to the first workers, and are what all wait for in the end. So each of those has a core, and
# the worker that there is beyond them fills the gaps. Measured: of three equals on two cores, the one with cuDNN ended
# two seconds after the others.
_STAND_BACK = 5


def run(jobs: Sequence[FetchJob], layout: Layout, workers: int, on_event: Callable[[Event], None]) -> None:
    """Fetch jobs in worker processes; the first failure, or ^C, ends them all and is raised."""
    locator = Locator(jobs)
    pool: list[_Worker] = []
    try:
        cores = len(os.sched_getaffinity(0))
        pool.extend(_Worker(layout, 0 if number < cores else _STAND_BACK) for number in range(workers))
        while _hand_out(pool, locator) or any(worker.task for worker in pool):
            idle = locator.left and any(worker.task is None for worker in pool)
            for ready in wait([w.connection for w in pool], _POLL if idle else _IDLE):
                next(w for w in pool if w.connection is ready).listen(on_event)
    finally:
        locator.close()
        for worker in pool:
            worker.end()
        Store(layout).sweep_staging()


def _hand_out(pool: Sequence[_Worker], locator: Locator) -> int:
    """Give located jobs to workers that have none; returns how many jobs are left."""
    for worker in pool:
        if worker.task is None and (task := locator.take()) is not None:
            worker.give(task)
    return locator.left


class _Worker:
    """One process and what it is doing."""

    def __init__(self, layout: Layout, niceness: int) -> None:
        self.task: Task | None = None
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = _start(theirs.fileno(), niceness)
        self.connection: Connection[object, object] = Connection(ours.detach())
        self.connection.send(layout)

    def give(self, task: Task) -> None:
        """Start a task."""
        self.task = task
        with suppress(BrokenPipeError):  # It died: listen() says so.
            self.connection.send(task)

    def listen(self, on_event: Callable[[Event], None]) -> None:
        """Take one message; raises the worker's error, or CvmError when it is dead."""
        try:
            message = self.connection.recv()
        except (EOFError, ConnectionError):
            raise self._died() from None
        if isinstance(message, BaseException):
            raise message
        assert isinstance(message, Started | Progress | Retrying | Finished)
        if isinstance(message, Finished):
            self.task = None
        on_event(message)

    def end(self) -> None:
        """Kill the process, which has nothing to lose: what it downloaded so far is on the disk."""
        self._process.kill()
        self._process.wait()
        self.connection.close()

    def _died(self) -> CvmError:
        code = self._process.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        what = self.task.wanted.filename if self.task else "archives"
        return CvmError(
            f"the process that unpacked {what} {how}",
            hint="run the command again: what had arrived is kept; if memory is short, close other programs first",
        )


def _start(descriptor: int, niceness: int) -> subprocess.Popen[bytes]:
    # ^C at a terminal reaches every process of the group, and so do the others sometimes. The parent alone answers, so
    # workers are born with them blocked: no moment is left in which one would die before it.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        # Neither site nor the parent's main module is imported: sys.path is handed over as it is.
        return subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                "-c",
                _BOOT,
                str(descriptor),
                str(os.getpid()),
                str(niceness),
                *_module_folders(),
            ],
            pass_fds=(descriptor,),
            stdin=subprocess.DEVNULL,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _module_folders() -> list[str]:
    return [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100 - a zip file may be among them
