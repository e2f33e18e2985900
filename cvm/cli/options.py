"""The options of `install`, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """What a person chose beside the request; `path` is --from."""

    source: str
    profile: str
    components: tuple[str, ...]
    path: Path | None
    platform: str | None
    dry_run: bool
    reinstall: bool
