"""Being told to stop: cleaned up first, then died of, as whoever sent the signal expects."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

_STOPPING = (signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """SIGTERM or SIGHUP came: what was begun is cleaned up on its way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        """The signal by its name."""
        return signal.Signals(self.number).name


def catch_stopping() -> None:
    """Raise Stopped in the main thread for signals that would end the process; one that is ignored stays so."""
    for number in _STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def die_of(number: int) -> None:
    """End the process by a signal, so that its parent sees what it died of."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _stop(number: int, _: object) -> NoReturn:
    # A second one while cleaning up changes nothing.
    for other in _STOPPING:
        signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)
