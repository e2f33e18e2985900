"""Remove a toolchain, and what only it used of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.actions.prune import unused_entries
from cvm.core.toolchain import Toolchain, pick_one
from cvm.disk import discard_folder
from cvm.errors import UsageError
from cvm.store import Store
from cvm.toolchains import installed

if TYPE_CHECKING:
    from cvm.layout import Layout


@dataclass(frozen=True, slots=True)
class Uninstalled:
    """What went: the names of toolchains, and bytes of archives that nothing else used."""

    names: tuple[str, ...]
    freed: int


def choose(specs: tuple[str, ...], layout: Layout) -> tuple[Toolchain, ...]:
    """Say which toolchains the requests mean; all are checked before any is removed.

    Raises NotInstalledError, or UsageError for a request that is ambiguous or means a site's toolchain.
    """
    toolchains = installed(layout)
    chosen = tuple(dict.fromkeys(pick_one(spec, toolchains) for spec in specs))
    for toolchain in chosen:
        if toolchain.site:
            raise UsageError(f"{toolchain.name} belongs to the site's home {layout.site}, not to yours")
    return chosen


def uninstall(specs: tuple[str, ...], layout: Layout) -> Uninstalled:
    """Remove toolchains; the caller holds the install lock. A linked toolkit itself is not touched."""
    chosen = choose(specs, layout)
    for toolchain in chosen:
        discard_folder(layout.toolchain(toolchain.name))
    store = Store(layout)
    freed = 0
    for entry in unused_entries(store, layout):
        freed += store.size(entry)
        store.remove(entry)
    return Uninstalled(tuple(toolchain.name for toolchain in chosen), freed)
