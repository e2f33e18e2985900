"""What is known of NVIDIA's wheels beyond what the package index says: `wheels.toml`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.core.version import Version, parse_version

if TYPE_CHECKING:
    from collections.abc import Mapping

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SUFFIX = re.compile(r"-cu[0-9]+$")


@dataclass(frozen=True, slots=True)
class Companion:
    """The wheels of a companion: its component, and the project of each CUDA variant."""

    component: str
    projects: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tables:
    """`wheels.toml`, parsed; the comments there say what each table is for."""

    components: Mapping[str, str]
    lacks: Mapping[str, Mapping[str, tuple[str, ...]]]
    missed_with: Mapping[str, str]
    pins: Mapping[Version, Mapping[str, str]]
    headers: Mapping[str, str]
    instead: Mapping[str, Mapping[str, str]]
    companions: Mapping[str, Companion]
    facts: Mapping[str, Mapping[str, str]]

    def component(self, project: str) -> str | None:
        """Name the component in the wheels of a project."""
        return self.components.get(_SUFFIX.sub("", project))


def read_tables() -> Tables:
    """Read `wheels.toml`."""
    document = tomllib.loads(Path(__file__).with_name("wheels.toml").read_text(encoding="utf-8"))
    return Tables(
        document["components"],
        {key: {part: tuple(names) for part, names in table.items()} for key, table in document["lacks"].items()},
        document["missed_with"],
        {parse_version(release): pins for release, pins in document["pins"].items()},
        document["headers"],
        document["instead"],
        {key: Companion(table["component"], table["projects"]) for key, table in document["companions"].items()},
        document["facts"],
    )
