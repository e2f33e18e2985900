"""Remove what no toolchain uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.disk import sweep_staging
from cvm.store import Entry, Store
from cvm.toolchains import installed

if TYPE_CHECKING:
    from cvm.layout import Layout


@dataclass(frozen=True, slots=True)
class Pruned:
    """What is (or would be) removed: file names of archives in the store, and bytes."""

    archives: tuple[str, ...]
    freed: int


def unused_entries(store: Store, layout: Layout) -> tuple[Entry, ...]:
    """Return the entries of the user's own store that no receipt names."""
    used = {component.sha256 for toolchain in installed(layout) for component in toolchain.receipt.components}
    return tuple(entry for entry in store.entries() if entry.sha256 not in used)


def prune(layout: Layout, *, dry_run: bool = False) -> Pruned:
    """Remove unused archives and what killed processes left; the caller holds the install lock."""
    store = Store(layout)
    unused = unused_entries(store, layout)
    result = Pruned(tuple(entry.filename for entry in unused), sum(map(store.size, unused)))
    if not dry_run:
        for entry in unused:
            store.remove(entry)
        store.sweep_staging()
        sweep_staging(layout.toolchains)
    return result
