"""Remove a toolchain, and what only it used of the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.actions.prune import used_archives
from cvm.actions.rehash import rehash
from cvm.core.toolchain import Toolchain, pick_one
from cvm.disk import discard_folder
from cvm.errors import UsageError
from cvm.store import Entry, Store
from cvm.toolchains import installed

if TYPE_CHECKING:
    from cvm.layout import Layout


@dataclass(frozen=True, slots=True)
class Uninstalled:
    """What goes: the names of toolchains, and bytes of archives that only they used."""

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


def uninstall(specs: tuple[str, ...], layout: Layout, *, dry_run: bool = False) -> Uninstalled:
    """Remove toolchains; the caller holds the install lock. A linked toolkit itself is not touched.

    Archives that no toolchain used before stay: an install that was interrupted goes on with them.
    """
    chosen = choose(specs, layout)
    store = Store(layout)
    going = _only_theirs(chosen, store, layout)
    freed = sum(map(store.size, going))
    if not dry_run:
        for toolchain in chosen:
            discard_folder(layout.toolchain(toolchain.name))
        rehash(layout)
        for entry in going:
            store.remove(entry)
    return Uninstalled(tuple(toolchain.name for toolchain in chosen), freed)


def _only_theirs(chosen: tuple[Toolchain, ...], store: Store, layout: Layout) -> tuple[Entry, ...]:
    others = (toolchain for toolchain in installed(layout) if toolchain not in chosen)
    going = used_archives(chosen) - used_archives(others)
    return tuple(entry for entry in store.entries() if entry.sha256 in going)
