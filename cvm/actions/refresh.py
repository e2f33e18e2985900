"""Bring releases that are newer than cvm into the home."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.join import join_manifests, only_sources
from cvm.core.manifest_text import manifest_text
from cvm.disk import disk_error, make_folder
from cvm.errors import NoMatchError
from cvm.net import Policy
from cvm.sources.redistrib import Redistrib, open_redistrib

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cvm.catalog import Catalog
    from cvm.core.manifest import Manifest
    from cvm.core.version import Version
    from cvm.layout import Layout
    from cvm.sources.servers import Servers


@dataclass(frozen=True, slots=True)
class Added:
    """A release that can be installed now, or from one more source."""

    product: str
    version: Version
    path: Path


def refresh(
    products: Sequence[str], catalog: Catalog, layout: Layout, servers: Servers, *, force: bool = False
) -> tuple[Added, ...]:
    """Read NVIDIA's redistrib manifests of releases that no manifest knows from that source, and write ours.

    `force` reads known ones again. Raises NetworkError or UnreachableError, UsageError for a file that
    can't be understood, NoMatchError for an unknown product.
    """
    added = []
    policy = Policy.from_environment(servers.settings.environment)
    for product in products:
        if product not in catalog.redist_products:
            raise NoMatchError(
                f"NVIDIA has no redistrib manifests of {product} that cvm reads",
                hint=f"cvm manifest refresh {' '.join(catalog.redist_products)}",
            )
        known = {r.version for r in catalog.releases(product) if "redist" in r.platforms}
        redistrib = open_redistrib(
            servers.settings.redist_url, product, catalog.redistrib_rules, servers.client, policy
        )
        for label in redistrib.labels:
            version = catalog.redistrib_rules.release(product, label)
            if force or version not in known:
                added.append(_add(_joined(redistrib, label, catalog), layout))
    return tuple(added)


def _joined(redistrib: Redistrib, label: str, catalog: Catalog) -> Manifest:
    fresh = redistrib.manifest(label)
    try:
        others = only_sources(catalog.manifest(fresh.product, fresh.version), ("pypi", "runfile", "file"))
    except NoMatchError:
        others = None
    return join_manifests([fresh, others] if others else [fresh])


def _add(manifest: Manifest, layout: Layout) -> Added:
    path = layout.manifests / manifest.product / f"{manifest.version}.toml"
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(manifest_text(manifest), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise disk_error(error, path) from error
    finally:
        with suppress(OSError):
            beside.unlink()
    return Added(manifest.product, manifest.version, path)
