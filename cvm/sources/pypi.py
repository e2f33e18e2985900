"""NVIDIA's wheels on the package index that pip or uv is configured with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.net import Location

if TYPE_CHECKING:
    from cvm.core.plan import PlannedArchive
    from cvm.sources.servers import Servers


def locate(planned: PlannedArchive, servers: Servers) -> Location:
    """Look a wheel up on its project's page, where its hash must be the manifest's."""
    archive = planned.archive
    return Location(servers.index.find(project_of(archive.filename), archive.filename, archive.sha256).url)


def project_of(wheel: str) -> str:
    """Return the normalized name of the project that a wheel belongs to."""
    return wheel.split("-", 1)[0].replace("_", "-").lower()
