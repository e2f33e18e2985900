"""Where archives come from: one module a source, each with `locate`.

A source is a module with `locate(planned, servers) -> Location`: it says where the bytes of an
archive are, and raises NetworkError, NoMatchError or IntegrityError when it can't.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from cvm.sources import local, pypi, redist

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.core.plan import PlannedArchive
    from cvm.net import Location
    from cvm.sources.servers import Servers


class Source(Protocol):
    """What a source must offer."""

    def locate(self, planned: PlannedArchive, servers: Servers) -> Location:
        """Say where the bytes of an archive are."""


SOURCES: Mapping[str, Source] = MappingProxyType({"redist": redist, "pypi": pypi, "file": local})
