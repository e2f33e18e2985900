"""The options of `install`, as one value."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.profile import DEFAULT_PROFILE

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """What a person chose beside the request; `path` is --from."""

    source: str = "auto"
    profile: str = DEFAULT_PROFILE
    components: tuple[str, ...] = ()
    path: Path | None = None
    platform: str | None = None
    dry_run: bool = False
    reinstall: bool = False

    def again(self, name: str) -> str:
        """Spell the command that installs a toolchain anew with what was chosen here, for a hint."""
        words = ["cvm", "install", name]
        words += [] if self.source == "auto" else ["--source", self.source]
        words += [] if self.profile == DEFAULT_PROFILE else ["--profile", self.profile]
        words += [word for component in self.components for word in ("--component", component)]
        words += [] if self.path is None else ["--from", str(self.path)]
        words += [] if self.platform is None else ["--platform", self.platform]
        return shlex.join([*words, "--reinstall"])
