"""Which build of a companion serves which toolkit, as `manifests/compat/*.toml` says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cvm.core.version import Version, parse_version
from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

ANY_MINOR = "any-minor-of-major"
EXACT_MINOR = "exact-minor"


@dataclass(frozen=True, slots=True)
class Build:
    """One build of a companion's release: the rule decides, the minors are what NVIDIA printed or we infer."""

    variant: str
    rule: str
    minors: tuple[str, ...] = ()

    def serves(self, toolkit: Version) -> bool:
        """Whether programs built with this toolkit can load this build."""
        if self.rule == EXACT_MINOR:
            return f"{toolkit.major}.{toolkit.minor}" in self.minors
        return self.variant == cuda_variant(toolkit)

    def describe(self) -> str:
        """Say in a few words what the build serves."""
        if self.rule == EXACT_MINOR:
            return f"CUDA {', '.join(self.minors)} exactly"
        return f"every CUDA {self.variant.removeprefix('cuda')}.x"


@dataclass(frozen=True, slots=True)
class CompatTable:
    """The builds of each release of one companion."""

    builds: Mapping[Version, tuple[Build, ...]] = field(default_factory=dict)

    def build_for(self, release: Version, toolkit: Version) -> Build | None:
        """Return the build of a release that serves this toolkit, if one does."""
        return next((build for build in self.builds.get(release, ()) if build.serves(toolkit)), None)


def cuda_variant(toolkit: Version) -> str:
    """Name the variant that NVIDIA builds for the major version of a toolkit."""
    return f"cuda{toolkit.major}"


def parse_compat(document: Mapping[str, Any], where: str) -> CompatTable:
    """Read a compatibility table from parsed TOML; raises UsageError that names the file."""
    try:
        return CompatTable(
            {parse_version(row["version"]): tuple(map(_build, row["builds"])) for row in document["releases"]}
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"{where} is not a compatibility table: {error}") from error


def _build(row: Mapping[str, Any]) -> Build:
    minors = row.get("documented_minors") or row.get("inferred_minors") or ()
    return Build(str(row["variant"]), str(row["rule"]), tuple(map(str, minors)))
