"""Manifests of what the package index has."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from cvm.core.manifest import Manifest
from cvm.sources.index import answering, redacted
from refresh.merge import wheel_component
from refresh.toolkits import PROJECT, Toolkit, assemble, toolkit_files, toolkit_pins
from refresh.wheels import Inspector, Wheel, newest, wheels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import requests

    from cvm.core.redistrib import RedistribRules
    from cvm.core.version import Version
    from cvm.sources.index import IndexClient, IndexFile
    from refresh.tables import Tables

# The index is everybody's.
_AT_ONCE = 8
_TIMEOUT = (15.0, 60.0)

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class WheelReader:
    """Reads the releases that can be made of wheels."""

    def __init__(self, client: IndexClient, session: requests.Session, tables: Tables, inspector: Inspector) -> None:
        self._client = client
        self._session = session
        self._tables = tables
        self._inspector = inspector

    def toolkits(self) -> Mapping[Version, Manifest]:
        """Read every CUDA release of the index; raises NoMatchError, NetworkError, IntegrityError."""
        metapackages = toolkit_files(self._client.files(PROJECT))
        read = _side_by_side(lambda file: toolkit_pins(self._get(file)), metapackages.values())
        pins = dict(zip(metapackages, read, strict=True))
        pins.update({release: {} for release in self._tables.pins if release not in pins})
        self._list({project for table in (*pins.values(), *self._tables.pins.values()) for project in table})
        dates = {release: file.uploaded for release, file in metapackages.items()}
        toolkits = (
            assemble(release, dates.get(release, ""), pins[release], self._client.files, self._tables)
            for release in sorted(pins)
        )
        return {toolkit.release: self._toolkit(toolkit) for toolkit in toolkits}

    def companions(self, product: str, rules: RedistribRules) -> Mapping[Version, Manifest]:
        """Read every release of a companion; pre-releases and placeholders are none."""
        companion = self._tables.companions[product]
        groups: dict[Version, dict[str, list[Wheel]]] = defaultdict(lambda: defaultdict(list))
        for variant, project in companion.projects.items():
            for wheel in wheels_of(project, self._client.files(project)):
                if not wheel.version.is_prerelease:
                    groups[rules.release(product, wheel.version.base_version)][variant].append(wheel)
        chosen = {
            release: [(wheel, variant) for variant, wheels in found.items() for wheel in newest(wheels).values()]
            for release, found in groups.items()
        }
        return {release: self._companion(product, release, companion.component, chosen[release]) for release in chosen}

    def _toolkit(self, toolkit: Toolkit) -> Manifest:
        wheels = [(wheel, key) for key, found in toolkit.wheels.items() for wheel in found.values()]
        archives = _side_by_side(lambda item: (item[1], self._inspector.archive(*item)), wheels)
        grouped = defaultdict(list)
        for key, archive in archives:
            grouped[key].append(archive)
        components = tuple(wheel_component(key, found) for key, found in grouped.items())
        return Manifest("cuda", toolkit.release, toolkit.date, components)

    def _companion(self, product: str, release: Version, component: str, wheels: list[tuple[Wheel, str]]) -> Manifest:
        archives = _side_by_side(lambda item: self._inspector.archive(item[0], component, (item[1],)), wheels)
        date = min(wheel.file.uploaded for wheel, _ in wheels)
        return Manifest(product, release, date, (wheel_component(component, archives),))

    def _list(self, projects: Iterable[str]) -> None:
        """Ask for many projects side by side; the client keeps the answers."""
        _side_by_side(self._client.files, sorted(projects))

    def _get(self, file: IndexFile) -> bytes:
        with answering(redacted(file.url)):
            response = self._session.get(file.url, timeout=_TIMEOUT)
            response.raise_for_status()
            return response.content


def _side_by_side(act: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(act, items))
