"""A process that fetches one archive after the other, as it is told. It imports little, for it starts often."""

from __future__ import annotations

import ctypes
import os
import signal
import traceback
from multiprocessing.connection import Connection
from threading import Lock
from typing import TYPE_CHECKING

from cvm.errors import CvmError
from cvm.fetch.single import fetch_one
from cvm.net.client import Client, Policy

if TYPE_CHECKING:
    from cvm.layout import Layout

_PR_SET_PDEATHSIG = 1


def main(descriptor: int, parent: int, niceness: int) -> None:
    """Take tasks from a socket until it closes; answer with events, and with the error when a task fails."""
    _die_with(parent)
    os.nice(niceness)
    connection: Connection[object, object] = Connection(descriptor)
    layout: Layout = connection.recv()  # type: ignore[assignment]
    # Imported while the parent looks for the first archive.
    import cvm.net.attempts  # noqa: F401

    client = Client(os.environ, Policy.from_environment(os.environ))
    lock = Lock()

    def send(message: object) -> None:
        with lock:
            connection.send(message)

    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            fetch_one(task, layout, client, send)  # type: ignore[arg-type]
        except CvmError as error:
            send(error)
        except Exception:  # noqa: BLE001 - a fault of ours: the parent reports it
            send(RuntimeError(traceback.format_exc()))


def _die_with(parent: int) -> None:
    """Have the kernel kill this process with its parent, so that nothing goes on writing after a kill -9."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
