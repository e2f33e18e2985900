"""Remove what no toolchain uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.disk import sweep_staging
from cvm.store import Store
from cvm.toolchains import installed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.toolchain import Toolchain
    from cvm.layout import Layout


@dataclass(frozen=True, slots=True)
class Pruned:
    """What is (or would be) removed: file names of archives in the store, and bytes."""

    archives: tuple[str, ...]
    freed: int


def used_archives(toolchains: Iterable[Toolchain]) -> set[str]:
    """Return the hashes of the archives that toolchains were made of."""
    return {component.sha256 for toolchain in toolchains for component in toolchain.receipt.components}


def prune(layout: Layout, *, dry_run: bool = False) -> Pruned:
    """Remove unused archives and what killed processes left; the caller holds the install lock."""
    store = Store(layout)
    used = used_archives(installed(layout))
    unused = tuple(entry for entry in store.entries() if entry.sha256 not in used)
    result = Pruned(tuple(entry.filename for entry in unused), sum(map(store.size, unused)))
    if not dry_run:
        for entry in unused:
            store.remove(entry)
        store.sweep_staging()
        sweep_staging(layout.toolchains)
    return result
