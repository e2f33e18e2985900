"""The folder of manifests: what is committed, and what a run changes in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cvm.core.manifest import Manifest, parse_manifest
from cvm.core.manifest_text import manifest_text
from refresh.wheels import Contents

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cvm.core.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class ManifestFolder:
    """Reads and writes `manifests/`; `changed` lists the files that a run has written or removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changed: list[str] = []

    def table(self, name: str) -> Mapping[str, Any]:
        """Parse a file of the folder; an absent one is empty."""
        path = self.path / name
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def releases(self, product: str) -> dict[Version, Manifest]:
        """Read the committed manifests of a product; raises UsageError."""
        paths = sorted((self.path / product).glob("*.toml"))
        manifests = [parse_manifest(self.table(f"{product}/{path.name}"), str(path)) for path in paths]
        return {manifest.version: manifest for manifest in manifests}

    def write_releases(self, product: str, releases: Mapping[Version, Manifest]) -> None:
        """Write the manifests of a product, and remove those of releases that are none any more."""
        for version, manifest in releases.items():
            self.write(f"{product}/{version}.toml", manifest_text(manifest))
        for path in (self.path / product).glob("*.toml"):
            if path.stem not in map(str, releases):
                path.unlink()
                self.changed.append(f"{product}/{path.name}")

    def write(self, name: str, text: str) -> None:
        """Write a file, unless it says the same already."""
        path = self.path / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.changed.append(name)


def known_contents(releases: Mapping[Version, Manifest]) -> dict[str, Contents]:
    """Return what the committed manifests say of the inside of wheels, by sha256."""
    return {
        archive.sha256: Contents(archive.unpacked, archive.lacks)
        for manifest in releases.values()
        for component in manifest.components
        for archive in component.archives
        if archive.source == "pypi" and archive.unpacked is not None
    }
