"""Decide what an install will do, before anything is downloaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cvm.core.request import Request
from cvm.core.resolve import Choices, World, resolve
from cvm.core.version import Pattern
from cvm.errors import NoMatchError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cvm.core.local import LocalArchives
    from cvm.core.plan import Plan, PlannedArchive, PlannedRelease
    from cvm.layout import Layout
    from cvm.store import Store

AUTO = ("redist", "pypi", "file")

# What CUDA's tar.xz archives unpack to, as a multiple of their size: 3.0 to 4.0 over the libraries of 11.8 and 13.0.
_TAR_RATIO = 3.5
_WHEEL_RATIO = 1.7


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes that a plan takes; `estimated` says that the size on disk is not known exactly."""

    download: int
    stored: int
    unpacked: int
    estimated: bool


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """A plan, and how much of it is here already: `present` holds hashes of archives in the store."""

    plan: Plan
    present: frozenset[str]
    local: frozenset[str]
    sizes: Sizes

    @property
    def missing(self) -> tuple[PlannedArchive, ...]:
        """The archives to fetch, each once."""
        wanted = {item.archive.sha256: item for item in self.plan.archives if item.archive.sha256 not in self.present}
        return tuple(wanted.values())


@dataclass(frozen=True, slots=True)
class Machine:
    """What planning asks of this machine.

    `stored`: are all archives of a plan in the store? `installed`: is the toolchain there as planned?
    `reachable`: does NVIDIA's host answer? That is asked last, and only when nothing else decides.
    """

    stored: Callable[[Plan], bool]
    installed: Callable[[Plan], bool]
    reachable: Callable[[], bool]


def choose_plan(request: Request, world: World, choices: Choices, local: LocalArchives, machine: Machine) -> Plan:
    """Resolve a request; where any source will do, the version is decided first and then one source for each release.

    Raises what `resolve` raises, and UnreachableError where only NVIDIA's host has the release and does not answer.
    """
    plan = resolve(request, world, choices)
    if len(choices.sources) == 1 or machine.stored(plan):
        return plan
    exact = _exact(plan, request)
    there = next(filter(machine.installed, _by_source(exact, world, choices)), None)
    if there is not None:
        return there
    if local.paths:
        plan = max(_by_source(exact, world, choices), key=local.coverage, default=plan)
        if local.coverage(plan) == len(plan.archives):
            return plan
    if not any(release.source == "redist" for release in plan.releases) or machine.reachable():
        return plan
    return _from_wheels(exact, world, choices)


def measure(plan: Plan, store: Store, layout: Layout, local: LocalArchives) -> InstallPlan:
    """Compare a plan with what is on disk."""
    present = frozenset(i.archive.sha256 for i in plan.archives if store.find(i.archive.sha256))
    at_hand = frozenset(i.archive.sha256 for i in plan.archives if local.path_of(i.archive))
    unsized = InstallPlan(plan, present, at_hand, Sizes(0, 0, 0, estimated=False))
    missing = unsized.missing
    here = sum(_part_size(layout, item.archive.sha256) for item in missing)
    sizes = Sizes(
        download=max(0, sum(i.archive.size for i in missing if i.archive.sha256 not in at_hand) - here),
        stored=sum(unpacked_size(i) for i in plan.archives if i.archive.sha256 in present),
        unpacked=sum(unpacked_size(i) for i in missing),
        estimated=any(i.archive.unpacked is None for i in missing),
    )
    return replace(unsized, sizes=sizes)


def _part_size(layout: Layout, sha256: str) -> int:
    part = layout.part(sha256)
    return part.stat().st_size if part.is_file() else 0


def unpacked_size(item: PlannedArchive) -> int:
    """Bytes on disk of an archive: exact where the manifest knows, else an estimate."""
    if item.archive.unpacked is not None:
        return item.archive.unpacked
    return int(item.archive.size * (_WHEEL_RATIO if item.archive.filename.endswith(".whl") else _TAR_RATIO))


def _exact(plan: Plan, request: Request) -> Request:
    """Fix the versions of a plan; a companion that was asked for to its last part (8.9.4.25) stays so."""
    asked = dict(request.companions)
    return Request(
        Pattern(str(plan.toolkit.version)),
        tuple((c.product, _label(c, asked[c.product])) for c in plan.companions),
    )


def _label(release: PlannedRelease, asked: Pattern) -> Pattern:
    return Pattern(str(release.version)) if asked.matches(release.version) else asked


def _by_source(request: Request, world: World, choices: Choices) -> Sequence[Plan]:
    plans = []
    for source in choices.sources:
        others = tuple(other for other in choices.sources if other != source)
        plans.append(resolve(request, world, replace(choices, sources=(source, *others))))
    return plans


def _from_wheels(request: Request, world: World, choices: Choices) -> Plan:
    """Do without NVIDIA's host, which can't be reached."""
    others = tuple(source for source in choices.sources if source != "redist")
    try:
        plan = resolve(request, world, replace(choices, sources=others))
    except NoMatchError as error:
        raise UnreachableError(
            f"NVIDIA's host can't be reached, and only it has {request} for {choices.platform}",
            hint="check the network and the proxy settings, or point CVM_REDIST_URL at a mirror",
        ) from error
    lacks = ", ".join(plan.toolkit.lacks)
    note = "NVIDIA's host can't be reached: taking NVIDIA's wheels from the package index"
    return replace(plan, notes=(note + (f", which lack {lacks}" if lacks else ""),))
