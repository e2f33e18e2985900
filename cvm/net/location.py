"""Where the bytes of an archive are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Location:
    """A URL, or a path of this machine as such or as a file:// URL, and what a request for it must carry."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path | None:
        """The file, when it is one of this machine."""
        if self.url.startswith("file:"):
            return Path(unquote(urlsplit(self.url).path))
        return None if "://" in self.url else Path(self.url)


def shown(url: str) -> str:
    """Return a URL as messages may show it: without a password, and without a query, which may hold a token."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
