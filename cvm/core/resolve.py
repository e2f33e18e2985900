"""From a request to a plan: the newest releases that fit, and go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.compat import ANY_MINOR, Build, CompatTable, cuda_variant
from cvm.core.components import choose_archives
from cvm.core.plan import Plan, PlannedRelease
from cvm.core.platform import foreign_name
from cvm.core.version import Pattern, Version, matching, nearest
from cvm.errors import IncompatibleError, NoMatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cvm.core.manifest import Manifest
    from cvm.core.profile import Profiles
    from cvm.core.request import Request


@dataclass(frozen=True, slots=True)
class Release:
    """What the index knows of a release before its manifest is read.

    `variants` maps a source to the cuda variants that it has (empty for toolkits),
    `platforms` a source to the platforms.
    """

    version: Version
    platforms: Mapping[str, tuple[str, ...]]
    variants: Mapping[str, tuple[str, ...]]

    def offered(self, platform: str, sources: Sequence[str], variant: str = "") -> bool:
        """Whether any of these sources has it for a platform, and for a cuda variant."""
        return any(
            platform in self.platforms.get(source, ()) and (not variant or variant in self.variants.get(source, ()))
            for source in sources
        )


@dataclass(frozen=True, slots=True)
class World:
    """What there is to choose from."""

    releases: Callable[[str], Sequence[Release]]
    manifest: Callable[[str, Version], Manifest]
    compat: Mapping[str, CompatTable]
    profiles: Profiles


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose: `sources` in order of preference, `components` empty for the profile's.

    `native` is the platform of this machine; the name of a toolchain for another one says so.
    """

    platform: str
    sources: tuple[str, ...]
    profile: str = "devel"
    components: tuple[str, ...] = ()
    native: str = ""

    @property
    def foreign(self) -> bool:
        """Whether the toolchain is for another machine than this one."""
        return self.native not in ("", self.platform)


def resolve(request: Request, world: World, choices: Choices) -> Plan:
    """Decide which releases and archives answer a request.

    Raises NoMatchError when nothing is published that fits, IncompatibleError when a companion
    does not go with the toolkit.
    """
    toolkit = _toolkit(request.toolkit, world, choices)
    companions = [
        companion_version(product, pattern, toolkit, world, choices) for product, pattern in request.companions
    ]
    releases = [
        choose_archives(world.manifest("cuda", toolkit), "", world.profiles, choices),
        *(
            choose_archives(world.manifest(product, version), cuda_variant(toolkit), world.profiles, choices, full)
            for product, version, full in companions
        ),
    ]
    name = foreign_name(_name(releases), choices.platform) if choices.foreign else _name(releases)
    return Plan(name, choices.platform, choices.profile, tuple(releases))


def companion_version(
    product: str, pattern: Pattern, toolkit: Version, world: World, choices: Choices
) -> tuple[str, Version, str]:
    """Choose the newest release of a companion that serves a toolkit: (product, version, the exact one asked for)."""
    published = [r for r in world.releases(product) if r.offered(choices.platform, choices.sources)]
    labels, exact = _labels(pattern, [release.version for release in published])
    if not labels:
        raise _no_match(product, pattern, [release.version for release in published])
    fitting = [release.version for release in published if _serves(product, release, toolkit, world, choices)]
    chosen = [label for label in labels if label in fitting]
    if not chosen:
        raise _incompatible(product, labels[0], toolkit, sorted(fitting), world)
    return product, chosen[0], exact


def _toolkit(pattern: Pattern, world: World, choices: Choices) -> Version:
    versions = [r.version for r in world.releases("cuda") if r.offered(choices.platform, choices.sources)]
    found = matching(pattern, versions)
    if not found:
        raise _no_match("cuda", pattern, versions)
    return found[0]


def _labels(pattern: Pattern, versions: Sequence[Version]) -> tuple[list[Version], str]:
    """Return the labels that a pattern stands for; 8.9.4.25 stands for the label 8.9.4, and for that build only."""
    found = matching(pattern, versions)
    if found or pattern.is_newest:
        return found, ""
    wanted = Version(pattern.text)
    labels = [v for v in versions if v != wanted and v.release == wanted.release[: len(v.release)]]
    return sorted(labels, reverse=True), pattern.text


def _serves(product: str, release: Release, toolkit: Version, world: World, choices: Choices) -> bool:
    if not release.offered(choices.platform, choices.sources, cuda_variant(toolkit)):
        return False
    table = world.compat.get(product)
    if table is None or release.version not in table.builds:
        # A release newer than the table: the variant of its archives is all that is known of it.
        return Build(cuda_variant(toolkit), ANY_MINOR).serves(toolkit)
    return table.build_for(release.version, toolkit) is not None


def _no_match(product: str, pattern: Pattern, versions: Sequence[Version]) -> NoMatchError:
    near = ", ".join(str(version) for version in nearest(pattern, versions))
    return NoMatchError(
        f"no {product} release matches `{pattern.text}` for this platform and source"
        + (f"; the nearest are {near}" if near else ""),
        hint=f"cvm list-remote {product}",
    )


def _incompatible(
    product: str, label: Version, toolkit: Version, fitting: Sequence[Version], world: World
) -> IncompatibleError:
    table = world.compat.get(product, CompatTable())
    builds = table.builds.get(label, ())
    serves = " and ".join(build.describe() for build in builds) or "other CUDA versions"
    published = [release.version for release in world.releases(product)]
    fit = ", ".join(_runs(fitting, published)) or "none"
    return IncompatibleError(
        f"{product} {label} does not go with CUDA {toolkit}: its builds serve {serves}; these fit: {fit}",
        hint=f"cvm install {toolkit} --with {product}=auto",
    )


def _runs(versions: Sequence[Version], among: Sequence[Version]) -> list[str]:
    """Write versions as runs: `8.8.0 to 9.28.0` where all that is published between them is meant."""
    runs: list[list[Version]] = []
    for version in sorted(among):
        if version not in versions:
            runs.append([])
        elif runs and runs[-1]:
            runs[-1].append(version)
        else:
            runs.append([version])
    return [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs if run]


def _name(releases: Sequence[PlannedRelease]) -> str:
    toolkit, *companions = releases
    return "-".join([toolkit.full_version, *(c.product + c.full_version for c in companions)])
