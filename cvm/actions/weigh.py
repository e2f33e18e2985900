"""Weighs what a toolchain's libraries would do to the active Python, before they go into LD_LIBRARY_PATH."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from cvm import __version__
from cvm.actions.kept import Answer, keep, recall
from cvm.host.python import active_python, behind_wrapper
from cvm.selected import current_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from cvm.doctor.finding import Finding
    from cvm.layout import Layout

# The variables that say how a Python starts, where it finds packages, and what these load.
_ASKED = (
    "LD_",
    "PYTHON",
    "HOME",
    "CUD",
    "CUPY_",
    "BNB_",
    "TRITON_",
    "TORCH_",
    "TF_",
    "XLA_",
    "JAX_",
    "NVIDIA_",
    "USE_",
)


def weigh(environment: Mapping[str, str], front: Sequence[str], layout: Layout) -> str | None:
    """Say what would break for the active Python in an environment, and these folders are to blame for.

    The environment has them in its LD_LIBRARY_PATH. None where nothing breaks that isn't broken without them.
    The answer is kept until a file that it was made from changes.
    """
    active = active_python(environment)
    if active is None or not front:
        return None
    folder = current_folder(environment)
    python = behind_wrapper(active, environment, folder)
    kept = layout.judgements / f"{_key(python, environment, folder)}.json"
    known = recall(kept)
    return known.text if known else _weighed(python, environment, folder, front, kept)


def _weighed(
    python: Path, environment: Mapping[str, str], folder: Path | None, front: Sequence[str], kept: Path
) -> str | None:
    from cvm.actions.doctor import Visit, diagnose_python
    from cvm.elf.watched import Watched
    from cvm.host.environment import read_environment

    files = Watched()
    here = str(folder or "/")
    try:
        read = read_environment(str(python), environment, files, here)
        findings = diagnose_python(read, Visit(files, environment, here)).findings
    except Exception:  # noqa: BLE001
        # What can't be looked at, for whatever reason, is none to withhold what was asked for.
        return None
    blamed = next(_blamed(findings, front), None)
    keep(kept, Answer(blamed and blamed.summary), files.stamps())
    return blamed and blamed.summary


def _blamed(findings: Sequence[Finding], front: Sequence[str]) -> Iterator[Finding]:
    """Iterate over what these folders break; a note tells of nothing broken."""
    for one in findings:
        culprit = str(one.evidence.get("culprit", ""))
        name, _, element = culprit.partition("=")
        if name.startswith("LD_LIBRARY_PATH[") and element.rstrip("/") in front and one.severity != "note":
            yield one


def _key(python: Path, environment: Mapping[str, str], folder: Path | None) -> str:
    asked = sorted((name, value) for name, value in environment.items() if name.startswith(_ASKED))
    # Relative elements of a path lead from the current folder.
    text = json.dumps([__version__, str(python), str(folder), asked])
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
