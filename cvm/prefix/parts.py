"""What a prefix is made of, and what the merge and the repairs must know about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.platform import target_triple

if TYPE_CHECKING:
    from cvm.core.plan import Plan, PlannedArchive
    from cvm.core.version import Version
    from cvm.store import Entry


@dataclass(frozen=True, slots=True)
class Part:
    """One archive of the plan, unpacked in the store."""

    planned: PlannedArchive
    entry: Entry

    @property
    def label(self) -> str:
        """Name the part in a message."""
        return f"{self.planned.component} {self.planned.version}"


@dataclass(frozen=True, slots=True)
class PrefixFacts:
    """What the repairs know of a prefix beside its files.

    `components` holds (key, name, version) of all that is in it, the toolkit's first.
    """

    toolkit: Version
    platform: str
    components: tuple[tuple[str, str, str], ...] = ()

    @property
    def minor(self) -> str:
        """The toolkit's version as NVIDIA's file names have it: 12.1."""
        return f"{self.toolkit.major}.{self.toolkit.minor}"

    @property
    def triple(self) -> str:
        """The name of this platform in `targets/`."""
        return target_triple(self.platform)


def facts_of(plan: Plan) -> PrefixFacts:
    """Collect what the repairs must know from a plan."""
    return PrefixFacts(
        plan.toolkit.version,
        plan.platform,
        tuple((archive.component, archive.name or archive.component, archive.version) for archive in plan.archives),
    )
