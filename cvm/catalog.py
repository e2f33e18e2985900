"""What is published: the shipped manifests, with those of the site and the user laid over them."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cvm.core.compat import CompatTable, parse_compat
from cvm.core.manifest import ANY_PLATFORM, Manifest, parse_manifest
from cvm.core.profile import Profiles, parse_profiles
from cvm.core.redistrib import RedistribRules, parse_redistrib_rules
from cvm.core.resolve import Release, World
from cvm.core.version import Version, parse_version
from cvm.errors import NoMatchError, UsageError
from cvm.resources import resource

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from cvm.layout import Layout


class Catalog:
    """Reads manifests; a file in a home adds a release, or overrides the shipped one of that version."""

    def __init__(self, layout: Layout) -> None:
        self._shipped = resource("manifests")
        self._homes = tuple(home / "manifests" for home in reversed(layout.homes()))
        self._manifests: dict[Path, Manifest] = {}

    def world(self) -> World:
        """Everything that resolving takes."""
        return World(self.releases, self.manifest, self._compat, self.profiles)

    def releases(self, product: str) -> Sequence[Release]:
        """Return every release of a product in ascending order; raises NoMatchError for an unknown product."""
        if product not in self.products:
            known = ", ".join(self.products)
            raise NoMatchError(f"cvm knows no product `{product}`; it knows {known}")
        found = {release.version: release for release in self._index.get(product, ())}
        for manifest in self._added(product):
            found[manifest.version] = summarize(manifest)
        return sorted(found.values(), key=lambda release: release.version)

    def manifest(self, product: str, version: Version) -> Manifest:
        """Read the manifest of a release, the user's own before the site's and the shipped one."""
        # A file in a home is taken by what it says, whatever its name: so are the releases listed.
        added = [manifest for manifest in self._added(product) if manifest.version == version]
        if added:
            return added[-1]
        path = self._shipped / product / f"{version}.toml"
        if path.is_file():
            return self._read(path)
        raise NoMatchError(f"there is no manifest of {product} {version}", hint=f"cvm list-remote {product}")

    @cached_property
    def products(self) -> Mapping[str, Mapping[str, Any]]:
        """The products by key, with title, licence and where to read it."""
        products: Mapping[str, Mapping[str, Any]] = read_toml(self._shipped / "products.toml")["products"]
        return products

    @cached_property
    def profiles(self) -> Profiles:
        """What each profile brings."""
        return parse_profiles(read_toml(self._shipped / "profiles.toml"))

    @cached_property
    def redistrib_rules(self) -> RedistribRules:
        """What NVIDIA's redistrib manifests leave unsaid."""
        return parse_redistrib_rules(read_toml(self._shipped / "redistrib.toml"))

    @property
    def redist_products(self) -> tuple[str, ...]:
        """The products that have redistrib manifests of the scheme that cvm reads."""
        # NCCL's labels (2.30.4-cuda12.9) name one archive twice, with two hashes.
        return tuple(product for product in self.products if product != "nccl")

    @cached_property
    def _compat(self) -> Mapping[str, CompatTable]:
        paths = sorted((self._shipped / "compat").glob("*.toml"))
        return {path.stem: parse_compat(read_toml(path), str(path)) for path in paths if path.stem in self.products}

    @cached_property
    def _index(self) -> Mapping[str, tuple[Release, ...]]:
        document = read_toml(self._shipped / "index.toml")
        return {
            product: tuple(_release(row) for row in rows)
            for product, rows in document.items()
            if isinstance(rows, list)
        }

    def _added(self, product: str) -> Iterable[Manifest]:
        for folder in self._homes:
            for path in sorted((folder / product).glob("*.toml")):
                manifest = self._read(path)
                if manifest.product != product:
                    raise UsageError(f"{path} says product `{manifest.product}` but lies in the folder of {product}")
                yield manifest

    def _read(self, path: Path) -> Manifest:
        if path not in self._manifests:
            self._manifests[path] = parse_manifest(read_toml(path), str(path))
        return self._manifests[path]


def summarize(manifest: Manifest) -> Release:
    """Say what the index says of a release."""
    archives = [archive for component in manifest.components for archive in component.archives]
    platforms: dict[str, set[str]] = {}
    variants: dict[str, set[str]] = {}
    for archive in archives:
        # Samples and the like serve any platform, and make a release available on none.
        if archive.platform != ANY_PLATFORM:
            platforms.setdefault(archive.source, set()).add(archive.platform)
        variants.setdefault(archive.source, set()).update(archive.cuda_variants)
    return Release(
        manifest.version,
        {source: tuple(sorted(keys)) for source, keys in platforms.items()},
        {source: tuple(sorted(keys)) for source, keys in variants.items() if keys},
    )


def read_toml(path: Path) -> Mapping[str, Any]:
    """Parse a TOML file; raises UsageError that names the file and the fault."""
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8") from error
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error


def _release(row: Mapping[str, Any]) -> Release:
    return Release(
        parse_version(row["version"]),
        {source: tuple(keys) for source, keys in row.get("platforms", {}).items()},
        {source: tuple(keys) for source, keys in row.get("variants", {}).items()},
    )
