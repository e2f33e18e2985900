"""How cvm speaks HTTP: one session a process, and how patient it is."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cvm import __version__
from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import requests

_LONGEST_PAUSE = 30.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How long to wait, in seconds, and how many tries in a row may bring nothing."""

    connect: float = 10.0
    read: float = 30.0
    tries: int = 5
    pause: float = 0.5

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Policy:
        """Read CVM_HTTP_TIMEOUT, the seconds after which a silent server is given up; raises UsageError."""
        text = environment.get("CVM_HTTP_TIMEOUT")
        if not text:
            return cls()
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise UsageError(f"CVM_HTTP_TIMEOUT is {text!r}, not a number of seconds", hint="unset CVM_HTTP_TIMEOUT")
        return cls(connect=min(cls().connect, seconds), read=seconds)

    def pause_after(self, failures: int, asked: float = 0.0) -> float:
        """Return how long to wait before the next try: twice as long each time, and not all clients at once."""
        doubled = self.pause * 2 ** (failures - 1) * random.uniform(0.75, 1.25)  # noqa: S311
        return float(min(_LONGEST_PAUSE, max(doubled, asked)))


@dataclass(slots=True)
class Client:
    """Makes its session when the first request needs one: a local archive needs none."""

    environment: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    _session: requests.Session | None = None

    @property
    def session(self) -> requests.Session:
        """The session of this process."""
        if self._session is None:
            self._session = session(self.environment)
        return self._session

    def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            self._session.close()
            self._session = None


def session(environment: Mapping[str, str]) -> requests.Session:
    """Make a session with cvm's name; proxies, netrc and CAs as requests has them, else the CA that pip is told of."""
    import requests

    made = requests.Session()
    made.headers.update({"User-Agent": f"cvm/{__version__}", "Accept-Encoding": "identity"})
    if not environment.get("REQUESTS_CA_BUNDLE") and not environment.get("CURL_CA_BUNDLE"):
        made.verify = environment.get("PIP_CERT") or environment.get("SSL_CERT_FILE") or True
    return made
