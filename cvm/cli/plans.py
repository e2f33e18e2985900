"""A plan for people, and for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.actions.install import licenses
from cvm.actions.planning import unpacked_size
from cvm.cli.context import human_size

if TYPE_CHECKING:
    from cvm.actions.planning import InstallPlan
    from cvm.catalog import Catalog
    from cvm.core.plan import PlannedArchive


def plan_lines(plan: InstallPlan) -> list[str]:
    """Write a plan: one line an archive, then the sums."""
    archives = plan.plan.archives
    width = max(len(item.component) for item in archives)
    lines = [f"{plan.plan.name} for {plan.plan.platform}, {plan.plan.profile} profile"]
    lines += [
        f"  {item.component:{width}}  {item.version:14} {item.archive.source:6} "
        f"{human_size(item.archive.size):>8}  {_state(item, plan)}".rstrip()
        for item in archives
    ]
    about = "about " if plan.sizes.estimated else ""
    lines.append(f"to download: {human_size(plan.sizes.download)}")
    lines.append(
        f"on disk: {about}{human_size(plan.sizes.unpacked)} new, {human_size(plan.sizes.stored)} in the store already"
    )
    for release in plan.plan.releases:
        if release.lacks:
            lines.append(f"{release.product} from {release.source} lacks: {', '.join(release.lacks)}")
    return lines


def describe(plan: InstallPlan, catalog: Catalog, status: str, prefix: str) -> dict[str, object]:
    """Describe an install in JSON; `status` is planned, present or installed. Sizes are in bytes."""
    return {
        "name": plan.plan.name,
        "prefix": prefix,
        "status": status,
        "platform": plan.plan.platform,
        "profile": plan.plan.profile,
        "download": plan.sizes.download,
        "unpacked": plan.sizes.unpacked,
        "unpacked_is_estimate": plan.sizes.estimated,
        "stored": plan.sizes.stored,
        "archives": [_archive(item, plan) for item in plan.plan.archives],
        "licenses": [{"name": entry.name, "url": entry.url} for entry in licenses(plan.plan, catalog.products)],
        "lacks": {release.product: list(release.lacks) for release in plan.plan.releases if release.lacks},
        "notes": list(plan.plan.notes),
    }


def _archive(item: PlannedArchive, plan: InstallPlan) -> dict[str, object]:
    archive = item.archive
    return {
        "product": item.product,
        "component": item.component,
        "version": item.version,
        "source": archive.source,
        "filename": archive.filename,
        "sha256": archive.sha256,
        "size": archive.size,
        "unpacked": unpacked_size(item),
        "in_store": archive.sha256 in plan.present,
        "local": archive.sha256 in plan.local,
    }


def _state(item: PlannedArchive, plan: InstallPlan) -> str:
    if item.archive.sha256 in plan.present:
        return "in the store"
    return "local" if item.archive.sha256 in plan.local else ""
