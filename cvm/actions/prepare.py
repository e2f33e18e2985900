"""From a request to an install plan: what `install` does first, and all that `--dry-run` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cvm.actions.install import installed_as_planned
from cvm.actions.planning import Machine, choose_plan, measure
from cvm.prefix.tree import hash_file
from cvm.sources.redist import reachable

if TYPE_CHECKING:
    from cvm.actions.install import Tools
    from cvm.actions.planning import InstallPlan
    from cvm.catalog import Catalog
    from cvm.core.entry import StoredFile
    from cvm.core.plan import Plan
    from cvm.core.request import Request
    from cvm.core.resolve import Choices


def prepare(
    request: Request, catalog: Catalog, choices: Choices, tools: Tools, *, reinstall: bool = False
) -> InstallPlan:
    """Decide what to install; asks the network at most whether NVIDIA's host is there.

    `reinstall` says that a toolchain which is there from another source is to be replaced.
    """

    def stored(plan: Plan) -> bool:
        return all(tools.store.find(item.archive.sha256) for item in plan.archives)

    def installed(plan: Plan) -> bool:
        return not reinstall and installed_as_planned(plan, tools.layout) is True

    machine = Machine(stored, installed, lambda: reachable(tools.servers))
    plan = choose_plan(request, catalog.world(), choices, tools.local, machine)
    return measure(plan, tools.store, tools.layout, tools.local)


def drop_damaged(plan: Plan, tools: Tools) -> tuple[str, ...]:
    """Remove the archives of a plan that changed in the user's own store; returns their file names."""
    dropped = []
    for sha256 in dict.fromkeys(item.archive.sha256 for item in plan.archives):
        entry = tools.store.find(sha256)
        if entry is None or not entry.folder.is_relative_to(tools.layout.store):
            continue
        if not all(_intact(f"{entry.tree}/{file.path}", file) for file in entry.files):
            tools.store.remove(entry)
            dropped.append(entry.filename)
    return tuple(dropped)


def _intact(path: str, file: StoredFile) -> bool:
    try:
        if file.is_link:
            return str(Path(path).readlink()) == file.target
        return hash_file(path) == file.sha256
    except OSError:
        return False
