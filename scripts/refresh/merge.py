"""One manifest of a release out of what each source says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cvm.core.manifest import Archive, Component, Manifest
from cvm.core.version import Version, parse_version

if TYPE_CHECKING:
    from refresh.tables import Tables

Releases = Mapping[Version, Manifest]


def merge(
    committed: Releases, redist: Releases, pypi: Releases | None, tables: Tables, license_name: str
) -> dict[Version, Manifest]:
    """Merge the releases of a product.

    What `redist` does not have stays as it was committed; the index is read whole, so `pypi`
    replaces every archive of that source, and None leaves them.
    """
    merged: dict[Version, Manifest] = {}
    for version in sorted({*committed, *redist, *(pypi or {})}):
        old = committed.get(version)
        parts = [
            redist[version] if version in redist else _only(old, {"redist"}),
            (pypi.get(version) if pypi is not None else _only(old, {"pypi"})),
            _only(old, {"runfile", "file"}),
        ]
        manifest = _join(version, [part for part in parts if part is not None], merged, tables, license_name)
        if manifest.components:
            merged[version] = manifest
    return merged


def _only(manifest: Manifest | None, sources: set[str]) -> Manifest | None:
    if manifest is None:
        return None
    components = tuple(
        replace(item, archives=tuple(archive for archive in _full(item) if archive.source in sources))
        for item in manifest.components
    )
    kept = tuple(item for item in components if item.archives)
    return replace(manifest, components=kept) if kept else None


def _join(
    version: Version, parts: list[Manifest], earlier: dict[Version, Manifest], tables: Tables, license_name: str
) -> Manifest:
    if not parts:
        return Manifest("", version)
    keys = sorted({component.key for part in parts for component in part.components})
    components = (_component([item for part in parts for item in part.components if item.key == key]) for key in keys)
    described = tuple(_describe(item, earlier, tables, license_name) for item in components)
    return Manifest(parts[0].product, version, next((p.date for p in parts if p.date), ""), described)


def _component(parts: list[Component]) -> Component:
    """Join a component of several sources: the first says its name and version."""
    archives = tuple(
        replace(archive, version="" if archive.version == parts[0].version else archive.version)
        for part in parts
        for archive in _full(part)
    )
    return replace(parts[0], archives=archives)


def _full(component: Component) -> Iterable[Archive]:
    return (replace(item, version=item.version or component.version) for item in component.archives)


def _describe(component: Component, earlier: dict[Version, Manifest], tables: Tables, license_name: str) -> Component:
    """Name a component that only has wheels the way that the release before did."""
    if component.license:
        return component
    for manifest in reversed(earlier.values()):
        for known in manifest.components:
            if known.key == component.key:
                return replace(component, name=known.name, license=known.license)
    facts = tables.facts.get(component.key, {})
    return replace(component, name=facts.get("name", ""), license=facts.get("license", license_name))


def wheel_component(key: str, archives: Iterable[Archive]) -> Component:
    """Make a component of wheels alone; its version is that of the newest."""
    listed = tuple(archives)
    return Component(key, str(max(parse_version(item.version) for item in listed)), archives=listed)
