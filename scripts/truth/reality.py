"""What happens when a consumer is imported in a real process, and a store of it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from truth.cells import Cell
    from truth.environments import Spec

_PROBE = (Path(__file__).parent / "probe.py").read_text()
_PRINTED = re.compile(r"Failed to load library \S+ with error: .*")
_DRIVER = "with error: libcuda.so.1: cannot open"
_SECONDS = 300


@dataclass(frozen=True)
class MappedFile:
    """A library in a real process: its path in /proc/self/maps, its soname and the names that it needs."""

    path: str
    soname: str | None
    needed: tuple[str, ...]


@dataclass(frozen=True)
class Phase:
    """An import, or a first use: the last line that a person sees, None where it succeeds, and what it answered.

    `mapped` is everything in the process at its end; nothing is known of a process that a signal ended.
    """

    error: str | None
    text: str
    answer: str | None
    mapped: tuple[MappedFile, ...]


@dataclass(frozen=True)
class Reality:
    """A process, phase by phase; the first use is None where the import failed. `stderr` is all that it printed."""

    python: str
    folders: tuple[str, ...]
    imported: Phase
    used: Phase | None
    stderr: str


class Store:
    """The answers of one environment by column, in a file, so that only the model need be run again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, cell: Cell, python: Path) -> Reality | None:
        """Return a stored answer, if it is of this environment and these folders."""
        known = self._known.get(cell.name)
        if known is None or known["python"] != str(python) or known["folders"] != list(cell.folders):
            return None
        return _reality(known)

    def put(self, cell: Cell, reality: Reality) -> None:
        """Keep an answer."""
        self._known[cell.name] = asdict(reality)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self._known, indent=1) + "\n")


def measure(spec: Spec, cell: Cell, python: Path) -> Reality:
    """Import a package, and use it, in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        result = Path(scratch, "result.json")
        done = subprocess.run(
            [str(python), "-c", _PROBE, str(result), spec.package],
            env=dict(cell.variables),
            cwd=scratch,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
        phases = json.loads(result.read_text()) if result.exists() else {}
    imported = _phase(phases.get("import"), done)
    used = None if imported.error else _told(_phase(phases.get("use"), done), done.stderr)
    return Reality(str(python), cell.folders, imported, used, done.stderr)


def _phase(result: Mapping[str, Any] | None, done: subprocess.CompletedProcess[str]) -> Phase:
    """Return a phase; one without a result ended the process, and the last line is the last that was printed."""
    if result is None:
        printed = [line for line in done.stderr.splitlines() if line.strip()]
        how = signal.Signals(-done.returncode).name if done.returncode < 0 else f"status {done.returncode}"
        return Phase(printed[-1].strip() if printed else how, f"ended by {how}", None, ())
    mapped = tuple(file for path in result["mapped"] if (file := read(path)))
    return Phase(result["error"], result["text"], result["answer"], mapped)


def _told(phase: Phase, stderr: str) -> Phase:
    """Take the failure that onnxruntime only prints, behind a time stamp, as the phase's own.

    But for the driver's library, which is missing wherever there is no GPU: that far the first use got.
    """
    printed = _PRINTED.search(stderr)
    if phase.error or printed is None:
        return phase
    text = printed[0].strip()
    return replace(phase, error=None if _DRIVER in text else text, text=text)


def read(path: str) -> MappedFile | None:
    """Read what another reader of ELF files than cvm's own says of a file, None where it is none."""
    try:
        with Path(path).open("rb") as file:
            dynamic = ELFFile(file).get_section_by_name(".dynamic")
            tags = list(dynamic.iter_tags()) if isinstance(dynamic, DynamicSection) else []
    except (OSError, ELFError):
        return None
    # The reader gives each tag's own text under its own name, which its types don't know.
    sonames: Sequence[str] = [vars(tag)["soname"] for tag in tags if tag.entry.d_tag == "DT_SONAME"]
    needed = tuple(vars(tag)["needed"] for tag in tags if tag.entry.d_tag == "DT_NEEDED")
    return MappedFile(path, sonames[0] if sonames else None, needed)


def _reality(known: Mapping[str, Any]) -> Reality:
    used = known["used"] and _stored(known["used"])
    return Reality(known["python"], tuple(known["folders"]), _stored(known["imported"]), used, known["stderr"])


def _stored(phase: Mapping[str, Any]) -> Phase:
    files = (MappedFile(one["path"], one["soname"], tuple(one["needed"])) for one in phase["mapped"])
    return Phase(phase["error"], phase["text"], phase["answer"], tuple(files))
