"""Which wheels make a CUDA Toolkit: the pins of the `cuda-toolkit` project, corrected."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from cvm.errors import NoMatchError
from refresh.wheels import pinned, wheels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cvm.sources.index import IndexFile
    from refresh.tables import Tables
    from refresh.wheels import Wheel

PROJECT = "cuda-toolkit"


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A release, and the wheels of it: component, then platform."""

    release: Version
    date: str
    wheels: Mapping[str, Mapping[str, Wheel]]


def toolkit_files(files: Iterable[IndexFile]) -> Mapping[Version, IndexFile]:
    """Return the metapackage of each release; placeholders and yanked files are none."""
    found: dict[Version, IndexFile] = {}
    for file in files:
        try:
            version = parse_wheel_filename(file.filename)[1]
        except InvalidWheelFilename:
            continue
        if not file.yanked and version.major:
            found[_release(version)] = file
    return found


def toolkit_pins(wheel: bytes) -> Mapping[str, SpecifierSet]:
    """Read what a metapackage pins, over all its extras: an extra alone leaves out what its wheels need."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode("utf-8"))
    requirements = map(Requirement, metadata.get_all("Requires-Dist", []))
    return {item.name: _exact(item.specifier) for item in requirements if item.specifier}


def assemble(
    release: Version,
    date: str,
    pins: Mapping[str, SpecifierSet],
    files: Callable[[str], tuple[IndexFile, ...]],
    tables: Tables,
) -> Toolkit:
    """Find the wheels of a release; raises NoMatchError that names every pin without any."""
    corrected = {project: SpecifierSet(f"=={version}.*") for project, version in tables.pins.get(release, {}).items()}
    found: dict[str, Mapping[str, Wheel]] = {}
    faults = []
    for project, pin in {**pins, **corrected}.items():
        component = tables.component(project)
        wheels = _whole(wheels_of(project, files(project)), pin, tables.instead.get(project, {}))
        if component is None:
            faults.append(f"{project} is no known component")
        elif not wheels:
            faults.append(f"no wheel of {project} {pin}")
        else:
            found[component] = wheels
    if faults:
        raise NoMatchError(f"CUDA {release} can't be made of wheels: {'; '.join(faults)}")
    return Toolkit(release, date, found)


def _whole(wheels: tuple[Wheel, ...], pin: SpecifierSet, instead: Mapping[str, str]) -> Mapping[str, Wheel]:
    chosen = pinned(wheels, pin)
    return {platform: _replacement(wheel, wheels, instead) for platform, wheel in chosen.items()}


def _replacement(wheel: Wheel, wheels: tuple[Wheel, ...], instead: Mapping[str, str]) -> Wheel:
    better = instead.get(str(wheel.version))
    if better is None:
        return wheel
    # Only for the platforms that the release itself has.
    return pinned(wheels, SpecifierSet(f"=={better}"))[wheel.platform]


def _release(version: Version) -> Version:
    """Take off the fourth zero of some metapackages: 12.8.2.0 is CUDA 12.8.2."""
    if len(version.release) == 4 and version.release[3] == 0:
        return Version(".".join(map(str, version.release[:3])))
    return version


def _exact(specifier: SpecifierSet) -> SpecifierSet:
    """Pin a range to its lower bound, the version that the release was built with."""
    lower = next((item.version for item in specifier if item.operator == ">="), None)
    if lower is None:
        return specifier
    return SpecifierSet(f"=={lower}" if Version(lower).is_prerelease else f"=={lower}.*")
