"""The toolchains that are installed in the homes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.core.toolchain import Toolchain
from cvm.core.version import parse_version
from cvm.disk import STAGING_PREFIX
from cvm.layout import toolchains_folder
from cvm.prefix.receipt import read_receipt

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.core.receipt import Receipt
    from cvm.layout import Layout


def installed(layout: Layout) -> tuple[Toolchain, ...]:
    """Read the receipts of all homes, in ascending order; a folder without a receipt is not an install.

    A toolchain of the user's own hides one of the same name in the site's home.
    """
    found: dict[str, Toolchain] = {}
    for home in layout.homes():
        for folder in _folders(toolchains_folder(home)):
            receipt = read_receipt(folder)
            if receipt is not None and folder.name not in found:
                found[folder.name] = _toolchain(folder, receipt, site=home != layout.home)
    return tuple(sorted(found.values(), key=lambda toolchain: toolchain.rank))


def _folders(parent: Path) -> list[Path]:
    if not parent.is_dir():
        return []
    return sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith(STAGING_PREFIX))


def _toolchain(folder: Path, receipt: Receipt, *, site: bool) -> Toolchain:
    return Toolchain(
        name=folder.name,
        prefix=receipt.path or str(folder),
        toolkit=parse_version(receipt.toolkit),
        receipt=receipt,
        companions={product: parse_version(version) for product, version in receipt.companions},
        site=site,
    )
