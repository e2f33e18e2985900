"""`manifests/index.toml`: every release in one file, so that a listing reads no manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.core.manifest import ANY_PLATFORM, SCHEMA, Archive, Manifest
from cvm.core.platform import PLATFORMS
from cvm.core.toml_text import TomlValue, toml_rows, toml_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cvm.core.version import Version


def index_text(products: Mapping[str, Mapping[Version, Manifest]], mains: Mapping[str, str]) -> str:
    """Write the index; `mains` names the component of each product that says which platforms a release is for."""
    parts = [f"schema = {toml_value(SCHEMA)}\n"]
    for product, releases in products.items():
        rows = [_row(releases[version], mains[product]) for version in sorted(releases)]
        parts.append(toml_rows(product, rows))
    return "\n".join(parts)


def _row(manifest: Manifest, main: str) -> dict[str, TomlValue]:
    archives = _archives(manifest, main)
    row: dict[str, TomlValue] = {"version": str(manifest.version)}
    if manifest.date:
        row["date"] = manifest.date
    row["platforms"] = {
        source: _platforms(archive.platform for archive in archives if archive.source == source)
        for source in manifest.sources
    }
    variants = {
        source: sorted({variant for item in archives if item.source == source for variant in item.cuda_variants})
        for source in manifest.sources
    }
    if any(variants.values()):
        row["variants"] = variants
    return row


def _archives(manifest: Manifest, main: str) -> list[Archive]:
    found = [archive for item in manifest.components if item.key == main for archive in item.archives]
    return found or [archive for item in manifest.components for archive in item.archives]


def _platforms(found: Iterable[str]) -> list[str]:
    named = set(found)
    return [platform for platform in PLATFORMS if platform in named or ANY_PLATFORM in named]
