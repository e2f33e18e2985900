"""Archives that a person has on disk already, matched with a plan by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.core.manifest import Archive
    from cvm.core.plan import Plan


@dataclass(frozen=True, slots=True)
class LocalArchives:
    """File names and where they lie; a file is taken by name, and its hash is checked like any other."""

    paths: Mapping[str, str]

    def path_of(self, archive: Archive) -> str | None:
        """Where this archive lies, if it does."""
        return self.paths.get(archive.filename)

    def coverage(self, plan: Plan) -> int:
        """How many archives of a plan lie there."""
        return sum(self.path_of(planned.archive) is not None for planned in plan.archives)
