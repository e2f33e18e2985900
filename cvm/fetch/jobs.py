"""What is to be fetched, and what happens meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.net.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.net.location import Location


@dataclass(frozen=True, slots=True)
class FetchJob:
    """One archive to bring into the store.

    `size` is 0 when nobody knows it. `locate` says where it is; it is called in a thread of the caller's
    process shortly before the download, and may raise CvmError. `unpacked` is the exact size on disk, if known.
    """

    sha256: str
    size: int
    filename: str
    locate: Callable[[], Location]
    unpacked: int | None = None

    @property
    def wanted(self) -> Wanted:
        """What its bytes must be."""
        return Wanted(self.sha256, self.size, self.filename)


@dataclass(frozen=True, slots=True)
class Task:
    """A job that has been located: what a worker needs of it."""

    wanted: Wanted
    location: Location
    unpacked: int | None


@dataclass(frozen=True, slots=True)
class Started:
    """Bytes begin to come; so many of them were here already."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """So many bytes of the archive are here."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Retrying:
    """A try failed, and another follows."""

    sha256: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The archive is in the store."""

    sha256: str


Event = Started | Progress | Retrying | Finished
