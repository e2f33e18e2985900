"""The servers that the sources ask, as this environment has them configured."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cvm.net import session

if TYPE_CHECKING:
    import requests

    from cvm.settings import Settings
    from cvm.sources.index import IndexClient


@dataclass(slots=True)
class Servers:
    """Clients that are made when they are first needed; threads may share them."""

    settings: Settings
    _client: requests.Session | None = None
    _index: IndexClient | None = None
    _lock: Lock = field(default_factory=Lock)

    @property
    def client(self) -> requests.Session:
        """The HTTP client."""
        with self._lock:
            self._client = self._client or session(self.settings.environment)
            return self._client

    @property
    def index(self) -> IndexClient:
        """The client of the package index."""
        client = self.client
        with self._lock:
            if self._index is None:
                from cvm.sources.index import IndexClient

                environment = self.settings.environment
                home = Path(environment.get("HOME") or "/")
                self._index = IndexClient.from_environment(environment, home, client)
            return self._index
