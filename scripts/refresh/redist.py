"""Every release of the products in NVIDIA's redistrib JSON, checked against pins of others."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cvm.errors import IntegrityError
from cvm.sources.redistrib import file_name, open_redistrib

if TYPE_CHECKING:
    from pathlib import Path

    import requests

    from cvm.core.manifest import Manifest
    from cvm.core.redistrib import RedistribRules
    from cvm.sources.redistrib import Redistrib

Pins = Mapping[tuple[str, str], str]


def read_products(
    where: str, products: Iterable[str], rules: RedistribRules, pins: Pins, session: requests.Session
) -> Mapping[str, tuple[Manifest, ...]]:
    """Read every release of the products below a folder or a base URL; raises UsageError, IntegrityError."""
    return {product: tuple(_manifests(open_redistrib(where, product, rules, session), pins)) for product in products}


def read_pins(path: Path) -> Pins:
    """Read the sha256 of redistrib files that others have pinned: columns product, release, sha256_of_manifest."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return {(row["product"], row["release"]): row["sha256_of_manifest"] for row in rows}


def _manifests(redistrib: Redistrib, pins: Pins) -> Iterable[Manifest]:
    for label in redistrib.labels:
        pin = pins.get((redistrib.product, label))
        if pin and redistrib.sha256(label) != pin:
            found = redistrib.sha256(label)
            raise IntegrityError(f"{redistrib.where}{file_name(label)} has sha256 {found}, the pin says {pin}")
        yield redistrib.manifest(label)
