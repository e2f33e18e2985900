"""Carry out a plan: fetch what is missing, build the prefix, write the receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cvm import __version__
from cvm.actions.rehash import rehash
from cvm.core.receipt import INSTALLED, InstalledComponent, License, Receipt
from cvm.disk import disk_error, readable_folder, remove_tree, replace_folder, staging_folder, sweep_staging
from cvm.fetch import Event, FetchJob, default_workers, fetch_all
from cvm.net import Location
from cvm.prefix.build import build
from cvm.prefix.linker import Linker
from cvm.prefix.parts import Part, facts_of
from cvm.prefix.receipt import read_receipt, write_receipt
from cvm.sources import SOURCES
from cvm.space import check_space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cvm.actions.planning import InstallPlan
    from cvm.core.local import LocalArchives
    from cvm.core.plan import Plan, PlannedArchive
    from cvm.layout import Layout
    from cvm.sources.servers import Servers
    from cvm.store import Store


@dataclass(frozen=True, slots=True)
class Tools:
    """What an install works with."""

    layout: Layout
    store: Store
    servers: Servers
    local: LocalArchives
    on_event: Callable[[Event], None]


def installed_as_planned(plan: Plan, layout: Layout) -> bool | None:
    """Whether the toolchain is there with the same archives; None when it isn't there."""
    receipt = read_receipt(layout.toolchain(plan.name))
    if receipt is None:
        return None
    wanted = {item.archive.sha256 for item in plan.archives}
    return wanted == {component.sha256 for component in receipt.components}


def install(plan: InstallPlan, products: Mapping[str, Mapping[str, Any]], tools: Tools, created: str) -> Path:
    """Install a plan and return its prefix; the caller holds the install lock.

    Whatever fails, no half of a toolchain is left, and what has arrived is used by the next run.
    """
    layout = tools.layout
    readable_folder(layout.toolchains)
    sweep_staging(layout.toolchains)
    tools.store.sweep_staging()
    _drop_parts(plan, layout)
    check_space({layout.home: plan.sizes.unpacked, layout.cache: _in_flight(plan)})
    jobs = [_job(item, tools) for item in plan.missing]
    fetch_all(jobs, layout, on_event=tools.on_event)
    prefix = _build(plan.plan, products, tools, created)
    rehash(layout)
    return prefix


def _in_flight(plan: InstallPlan) -> int:
    """Return the bytes that the cache may hold at once: an archive leaves it when it is unpacked."""
    sizes = sorted((i.archive.size for i in plan.missing if i.archive.sha256 not in plan.local), reverse=True)
    return sum(sizes[: default_workers()])


def _drop_parts(plan: InstallPlan, layout: Layout) -> None:
    """Remove the downloads of archives that are in the store: a process that was killed right then left them."""
    for sha256 in plan.present:
        try:
            layout.part(sha256).unlink(missing_ok=True)
        except OSError as error:
            raise disk_error(error, layout.part(sha256)) from error


def licenses(plan: Plan, products: Mapping[str, Mapping[str, Any]]) -> tuple[License, ...]:
    """Name the licences of what a plan installs, and where to read them."""
    return tuple(
        License(str(product["license_name"]), str(url))
        for product in (products[release.product] for release in plan.releases)
        for url in product["licenses"]
    )


def _job(item: PlannedArchive, tools: Tools) -> FetchJob:
    archive = item.archive
    return FetchJob(archive.sha256, archive.size, archive.filename, lambda: _locate(item, tools), archive.unpacked)


def _locate(item: PlannedArchive, tools: Tools) -> Location:
    path = tools.local.path_of(item.archive)
    return Location(path) if path else SOURCES[item.archive.source].locate(item, tools.servers)


def _build(plan: Plan, products: Mapping[str, Mapping[str, Any]], tools: Tools, created: str) -> Path:
    target = tools.layout.toolchain(plan.name)
    staged = staging_folder(target.parent)
    try:
        parts = [Part(item, _entry(item, tools.store)) for item in plan.archives]
        built = build(parts, staged, facts_of(plan), Linker())
        write_receipt(staged, _receipt(plan, products, built.repairs, created), built.files)
        replace_folder(staged, target)
    finally:
        remove_tree(staged)
    return target


def _entry(item: PlannedArchive, store: Store) -> Any:
    entry = store.find(item.archive.sha256)
    assert entry is not None, item.archive.filename
    return entry


def _receipt(plan: Plan, products: Mapping[str, Mapping[str, Any]], repairs: tuple[str, ...], created: str) -> Receipt:
    return Receipt(
        name=plan.name,
        kind=INSTALLED,
        toolkit=plan.toolkit.full_version,
        companions=tuple((release.product, release.full_version) for release in plan.companions),
        platform=plan.platform,
        profile=plan.profile,
        components=tuple(_component(item) for item in plan.archives),
        licenses=licenses(plan, products),
        repairs=repairs,
        created=created,
        cvm=__version__,
    )


def _component(item: PlannedArchive) -> InstalledComponent:
    archive = item.archive
    return InstalledComponent(
        item.product,
        item.component,
        item.version,
        archive.source,
        archive.filename,
        archive.sha256,
        archive.size,
        item.license,
    )
