"""Re-hash installed files and say what changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.core.receipt import LINKED
from cvm.core.toolchain import Toolchain, pick
from cvm.errors import IntegrityError, UsageError
from cvm.prefix.receipt import read_files
from cvm.prefix.verify import Change, verify
from cvm.toolchains import installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.layout import Layout


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of the files of one toolchain since it was installed."""

    toolchain: Toolchain
    files: int
    changes: tuple[Change, ...]


def to_verify(specs: Sequence[str], layout: Layout) -> tuple[Toolchain, ...]:
    """Say which toolchains the requests mean: all that cvm installed when there is none.

    Raises NotInstalledError, or UsageError for a linked toolkit, of whose files nothing is known.
    """
    toolchains = installed(layout)
    if not specs:
        return tuple(toolchain for toolchain in toolchains if toolchain.receipt.kind != LINKED)
    chosen = tuple(dict.fromkeys(pick(spec, toolchains) for spec in specs))
    for toolchain in chosen:
        if toolchain.receipt.kind == LINKED:
            raise UsageError(f"{toolchain.name} is linked: cvm did not install its files and can't verify them")
    return chosen


def verify_toolchain(toolchain: Toolchain) -> Verified:
    """Compare a prefix with the hashes that were recorded when it was built; raises IntegrityError without them."""
    files = read_files(Path(toolchain.prefix))
    if not files:
        raise IntegrityError(
            f"the record of the files of {toolchain.name} is gone or damaged",
            hint=toolchain.reinstall,
        )
    return Verified(toolchain, len(files), verify(Path(toolchain.prefix), files, extra=True))
