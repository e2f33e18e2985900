"""Profiles: how much of a release to install."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILES = ("runtime", "devel", "full")
DEFAULT_PROFILE = "devel"


@dataclass(frozen=True, slots=True)
class Profiles:
    """`runtime` names what programs need to run; `full_only` what only the full profile brings.

    Both hold component keys, or patterns such as `nsight_*`.
    """

    runtime: tuple[str, ...]
    full_only: tuple[str, ...]

    def includes(self, profile: str, component: str) -> bool:
        """Whether a profile brings a component."""
        if profile == "full":
            return True
        if profile == "runtime":
            return _listed(component, self.runtime)
        return not _listed(component, self.full_only)


def parse_profiles(document: Mapping[str, Any]) -> Profiles:
    """Read `manifests/profiles.toml`."""
    return Profiles(tuple(document["runtime"]), tuple(document["full_only"]))


def _listed(component: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(component, pattern) for pattern in patterns)
