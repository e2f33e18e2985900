"""A manifest as text: the same bytes for the same facts, so that a second run of a generator changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.core.manifest import SCHEMA, SOURCES, Archive, Component, Manifest
from cvm.core.toml_text import TomlValue, toml_key, toml_rows, toml_value

if TYPE_CHECKING:
    from collections.abc import Iterable


def manifest_text(manifest: Manifest) -> str:
    """Write a manifest as TOML, components and archives in a fixed order."""
    head: dict[str, TomlValue] = {
        "schema": SCHEMA,
        "product": manifest.product,
        "version": str(manifest.version),
        "date": manifest.date,
    }
    parts = [_lines(head), *map(_component, sorted(manifest.components, key=lambda component: component.key))]
    return "\n".join(parts)


def archive_order(archive: Archive) -> tuple[int, str, str]:
    """Order archives by source, platform and path."""
    return (SOURCES.index(archive.source), archive.platform, archive.path)


def _component(component: Component) -> str:
    facts: dict[str, TomlValue] = {
        "name": component.name,
        "version": component.version,
        "license": component.license,
        "license_path": component.license_path,
    }
    archives = toml_rows("archives", [_archive(item) for item in sorted(component.archives, key=archive_order)])
    return f"[components.{toml_key(component.key)}]\n{_lines(facts)}{archives}"


def _archive(archive: Archive) -> dict[str, TomlValue]:
    facts: dict[str, TomlValue] = {
        "source": archive.source,
        "platform": archive.platform,
        "path": archive.path,
        "size": archive.size,
        "sha256": archive.sha256,
        "version": archive.version,
        "cuda_variants": archive.cuda_variants,
        "lacks": archive.lacks,
    }
    if archive.unpacked is not None:
        facts["unpacked"] = archive.unpacked
    return dict(_given(facts.items()))


def _lines(facts: dict[str, TomlValue]) -> str:
    return "".join(f"{key} = {toml_value(value)}\n" for key, value in _given(facts.items()))


def _given(facts: Iterable[tuple[str, TomlValue]]) -> Iterable[tuple[str, TomlValue]]:
    # An empty text or list is the default of an optional key; a zero is a fact.
    return ((key, value) for key, value in facts if value not in ("", ()))
