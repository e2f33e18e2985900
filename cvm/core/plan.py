"""A plan: exactly which archives make a toolchain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvm.core.manifest import Archive
    from cvm.core.version import Version


@dataclass(frozen=True, slots=True)
class PlannedArchive:
    """One archive of a plan, and the component that it holds."""

    product: str
    component: str
    version: str
    license: str
    archive: Archive
    name: str = ""


@dataclass(frozen=True, slots=True)
class PlannedRelease:
    """One release of a plan, from one source.

    `version` is the release's label (8.9.4), `full_version` the one its library reports (8.9.4.25).
    `lacks` names what a person would miss: parts that another source has and this one has not.
    """

    product: str
    version: Version
    full_version: str
    source: str
    archives: tuple[PlannedArchive, ...]
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that an install of one toolchain takes. Sizes are in bytes."""

    name: str
    platform: str
    profile: str
    releases: tuple[PlannedRelease, ...]
    notes: tuple[str, ...] = ()

    @property
    def toolkit(self) -> PlannedRelease:
        """The toolkit's release."""
        return self.releases[0]

    @property
    def companions(self) -> tuple[PlannedRelease, ...]:
        """The companions' releases, in the order of their names."""
        return self.releases[1:]

    @property
    def archives(self) -> tuple[PlannedArchive, ...]:
        """All archives, the toolkit's first."""
        return tuple(archive for release in self.releases for archive in release.archives)
