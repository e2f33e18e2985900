"""Wheels on the index: which ones a pin stands for, and what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from cvm.core.manifest import Archive
from cvm.errors import IntegrityError
from refresh.remote_zip import open_remote_zip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    import requests
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    from cvm.sources.index import IndexFile
    from refresh.tables import Tables

_MACHINES = {
    "_x86_64": "linux-x86_64",
    "_aarch64": "linux-sbsa",
    "win_amd64": "windows-x86_64",
    "win_arm64": "windows-arm64",
}


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of a project, of a version, for a platform."""

    project: str
    version: Version
    build: tuple[int, str] | tuple[()]
    platform: str
    file: IndexFile


def wheels_of(project: str, files: Iterable[IndexFile]) -> tuple[Wheel, ...]:
    """Return the wheels that can be installed: never a yanked one, nor one without a hash and a size."""
    found = []
    for file in files:
        try:
            _, version, build, tags = parse_wheel_filename(file.filename)
        except InvalidWheelFilename:
            continue
        platform = next((_MACHINES[end] for end in _MACHINES for tag in tags if tag.platform.endswith(end)), None)
        if platform and file.sha256 and file.size and not file.yanked:
            found.append(Wheel(project, version, build, platform, file))
    return tuple(found)


def pinned(wheels: Iterable[Wheel], pin: SpecifierSet) -> Mapping[str, Wheel]:
    """Choose the newest wheel of each platform that a pin admits: `==12.4.127.*` takes 12.4.127.post1."""
    return newest(wheel for wheel in wheels if wheel.version in pin)


def newest(wheels: Iterable[Wheel]) -> Mapping[str, Wheel]:
    """Choose the newest wheel of each platform."""
    chosen: dict[str, Wheel] = {}
    # Of wheels that differ in their tags only, the one that was uploaded last.
    for wheel in sorted(wheels, key=lambda item: (item.version, item.build, item.file.uploaded, item.file.filename)):
        chosen[wheel.platform] = wheel
    return chosen


@dataclass(frozen=True, slots=True)
class Contents:
    """What the listing of a wheel says."""

    unpacked: int
    lacks: tuple[str, ...]


class Inspector:
    """Lists wheels on the server; what the committed manifests say of a hash is not asked again."""

    def __init__(self, session: requests.Session, tables: Tables, known: Mapping[str, Contents]) -> None:
        self._session = session
        self._tables = tables
        self._known = known

    def archive(self, wheel: Wheel, component: str, variants: tuple[str, ...] = ()) -> Archive:
        """Describe a wheel as an archive of a component; raises IntegrityError for one that lost its headers."""
        contents = self._known.get(wheel.file.sha256) or self._inspect(wheel, component)
        return Archive(
            "pypi",
            wheel.platform,
            wheel.file.filename,
            wheel.file.sha256,
            wheel.file.size or 0,
            str(wheel.version),
            variants,
            contents.unpacked,
            contents.lacks,
        )

    def _inspect(self, wheel: Wheel, component: str) -> Contents:
        with open_remote_zip(self._session, wheel.file) as archive:
            members = archive.infolist()
        paths = [PurePosixPath(member.filename) for member in members]
        header = self._tables.headers.get(component)
        if header and not any(str(path).endswith(f"/{header}") for path in paths):
            raise IntegrityError(
                f"{wheel.file.filename} has no {header}",
                hint=f"name the wheel to take instead of {wheel.project} {wheel.version} in wheels.toml",
            )
        lacks = missing_parts({path.name for path in paths}, component, self._tables)
        return Contents(sum(member.file_size for member in members), lacks)


def missing_parts(names: AbstractSet[str], component: str, tables: Tables) -> tuple[str, ...]:
    """Name what a person would miss in a wheel with files of these names."""
    wanted = tables.lacks.get(component, {})
    missing = [part for part, files in wanted.items() if names.isdisjoint(files)]
    return tuple(part for part in missing if tables.missed_with.get(part) not in missing)
