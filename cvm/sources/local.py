"""Archives on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cvm.archive import can_unpack
from cvm.core.local import LocalArchives
from cvm.errors import NoMatchError, UsageError
from cvm.net import Location

if TYPE_CHECKING:
    from cvm.core.plan import PlannedArchive
    from cvm.sources.servers import Servers


def locate(planned: PlannedArchive, servers: Servers) -> Location:  # noqa: ARG001 - the signature of a source
    """Check that the manifest's path is there."""
    path = Path(planned.archive.path).expanduser()
    if not path.is_file():
        raise NoMatchError(f"{path} is not there, which the manifest of {planned.product} names")
    return Location(str(path))


def local_archives(path: Path) -> LocalArchives:
    """Look for archives: the one that a path names, or all in a folder and below it.

    Raises UsageError when there is none.
    """
    if path.is_file() and can_unpack(path.name):
        return LocalArchives({path.name: str(path.absolute())})
    found = {file.name: str(file.absolute()) for file in sorted(path.rglob("*")) if can_unpack(file.name)}
    if not found:
        raise UsageError(
            f"there is no archive, wheel or toolkit at {path}", hint="give a .tar.xz, a .whl, or a folder of them"
        )
    return LocalArchives(found)
