"""Whether a prediction agrees with a real process, mark by mark.

Which files count: those of the real process that lie in a wheel of NVIDIA's or in a folder of LD_LIBRARY_PATH, the
consumer's own that need one of these, directly or through others, and whatever all of them need, by their own
DT_NEEDED, step by step down to libc. All of them must be predicted. Left out is what has no part in CUDA: extension
modules of the standard library, of numpy, of other packages, and of the consumer itself where no CUDA library comes
with them. The other way round nothing is left out: every file that is predicted for the import must be in the process.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from truth.model import Prediction
    from truth.reality import MappedFile, Phase, Reality

IMPORT, USE = "import", "use"
# Of a phase: fails and is said to; works and is said to; said to fail but works; fails unforeseen.
TRUE_POSITIVE, TRUE_NEGATIVE, FALSE_POSITIVE, FALSE_NEGATIVE = "TP", "TN", "FP", "FN"


class Folders(NamedTuple):
    """Where the files lie that count: the consumer's own, and those with CUDA's libraries."""

    own: tuple[str, ...]
    cuda: tuple[str, ...]


@dataclass(frozen=True)
class Marks:
    """How a phase was foreseen, and every way in which it wasn't, one line each.

    `text`: both fail, with other words. `winners`: both work, with other files.
    """

    phase: str
    verdict: str
    text: tuple[str, ...] = ()
    winners: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return self.verdict in (TRUE_POSITIVE, TRUE_NEGATIVE) and not self.text and not self.winners

    def __str__(self) -> str:
        return f"{self.verdict}{'t' if self.text else ''}{'w' if self.winners else ''}"


@dataclass(frozen=True)
class Comparison:
    """A cell of the matrix: the marks of its phases, and what else is wrong with the prediction."""

    marks: tuple[Marks, ...]
    others: tuple[str, ...] = field(default=())

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.others and all(one.agrees for one in self.marks)

    def __str__(self) -> str:
        return " ".join([*map(str, self.marks), *("!" for _ in self.others[:1])])


def compare(reality: Reality, prediction: Prediction, folders: Folders) -> Comparison:
    """Compare a process with what was said of it; the folders of its LD_LIBRARY_PATH are added."""
    if prediction.broken:
        return Comparison((), (prediction.broken,))
    folders = folders._replace(cuda=(*folders.cuda, *reality.folders))
    marks = [_marks(IMPORT, reality.imported, prediction.error, prediction.imported, folders)]
    if reality.used is not None and prediction.error is None:
        marks.append(_used(reality, prediction, folders))
    return Comparison(tuple(marks), tuple(_verdict(reality, prediction)))


def _marks(phase: str, real: Phase, error: str | None, paths: Sequence[str], folders: Folders) -> Marks:
    """Compare an import."""
    verdict = _kind(real.error, error)
    if verdict == TRUE_POSITIVE:
        return Marks(phase, verdict, text=_words(real.error or "", error or ""))
    if verdict == TRUE_NEGATIVE:
        return Marks(phase, verdict, winners=tuple(winners(real.mapped, paths, folders)))
    return Marks(phase, verdict, text=(f"really: {real.error}", f"said:   {error}"))


def _used(reality: Reality, prediction: Prediction, folders: Folders) -> Marks:
    """Compare a first use; more may be predicted than the part of it that takes no GPU loads."""
    assert reality.used is not None
    marks = _marks(USE, reality.used, prediction.first_use_error, prediction.loaded, folders)
    return Marks(marks.phase, marks.verdict, marks.text, tuple(one for one in marks.winners if one.startswith("not")))


def _kind(real: str | None, said: str | None) -> str:
    if real is None:
        return TRUE_NEGATIVE if said is None else FALSE_POSITIVE
    return FALSE_NEGATIVE if said is None else TRUE_POSITIVE


def _words(real: str, said: str) -> tuple[str, ...]:
    return () if real == said else (f"really: {real}", f"said:   {said}")


def winners(mapped: Sequence[MappedFile], paths: Iterable[str], folders: Folders) -> list[str]:
    """Return one line for each file that was loaded unforeseen, or foreseen and not loaded."""
    real = {os.path.realpath(one.path) for one in mapped}
    said = {os.path.realpath(path) for path in paths}
    counted = {os.path.realpath(one.path) for one in counting(mapped, folders)}
    unforeseen = [f"not foreseen: {path}{_instead(path, said - real)}" for path in sorted(counted - said)]
    absent = [f"foreseen, not loaded: {path}{_instead(path, real - said)}" for path in sorted(said - real)]
    return unforeseen + absent


def counting(mapped: Sequence[MappedFile], folders: Folders) -> list[MappedFile]:
    """Return the files that have a part in CUDA, and what they need."""
    by_name = {name: one for one in mapped for name in (one.soname, posixpath.basename(one.path)) if name}
    cuda = {one.path for one in mapped if _below(one, folders.cuda)}
    own = [one for one in mapped if _below(one, folders.own) and cuda & _needs(one, by_name)]
    roots = [*own, *(one for one in mapped if one.path in cuda)]
    counted = {path for one in roots for path in _needs(one, by_name)}
    return [one for one in mapped if one.path in counted]


def _below(one: MappedFile, folders: Iterable[str]) -> bool:
    return os.path.realpath(one.path).startswith(tuple(f"{os.path.realpath(folder)}/" for folder in folders))


def _needs(one: MappedFile, by_name: Mapping[str, MappedFile]) -> set[str]:
    """Return the paths of a file and of everything that it needs."""
    found: set[str] = set()
    left = [one]
    while left:
        file = left.pop()
        if file.path not in found:
            found.add(file.path)
            left += [by_name[name] for name in file.needed if name in by_name]
    return found


def _instead(path: str, others: Iterable[str]) -> str:
    """Name the file of the same library on the other side."""
    stem = posixpath.basename(path).partition(".so")[0]
    same = sorted(one for one in others if posixpath.basename(one).partition(".so")[0] == stem)
    return f", but {same[0]}" if same else ""


def _verdict(reality: Reality, prediction: Prediction) -> Iterable[str]:
    """The verdict must be `error` where the import fails, and no better than `warning` where the first use does.

    The other way round it may be an error: the process looks no further than where a GPU is needed.
    """
    used = reality.used.error if reality.used else None
    if reality.imported.error and prediction.verdict != "error":
        yield f"the verdict is {prediction.verdict}, and really: {reality.imported.error}"
    if used and prediction.verdict not in ("error", "warning"):
        yield f"the verdict is {prediction.verdict}, and at the first use really: {used}"
