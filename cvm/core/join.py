"""One manifest of a release out of what several sources say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cvm.core.manifest import Archive, Component, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def join_manifests(parts: Sequence[Manifest]) -> Manifest:
    """Join manifests of one release; the first that knows a component says its name, version and licence."""
    keys = sorted({component.key for part in parts for component in part.components})
    components = (
        join_components([item for part in parts for item in part.components if item.key == key]) for key in keys
    )
    date = next((part.date for part in parts if part.date), "")
    return Manifest(parts[0].product, parts[0].version, date, tuple(components))


def join_components(parts: Sequence[Component]) -> Component:
    """Join what several sources have of a component."""
    first = parts[0]
    archives = tuple(
        replace(archive, version="" if archive.version == first.version else archive.version)
        for part in parts
        for archive in full_archives(part)
    )
    return replace(first, archives=archives)


def only_sources(manifest: Manifest, sources: Iterable[str]) -> Manifest | None:
    """Keep what some sources have of a release; None when that is nothing."""
    wanted = set(sources)
    components = tuple(
        replace(item, archives=tuple(archive for archive in full_archives(item) if archive.source in wanted))
        for item in manifest.components
    )
    kept = tuple(item for item in components if item.archives)
    return replace(manifest, components=kept) if kept else None


def full_archives(component: Component) -> Iterator[Archive]:
    """Yield a component's archives, each with its own version."""
    for archive in component.archives:
        yield replace(archive, version=archive.version or component.version)
