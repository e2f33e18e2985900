"""Answers that took a while, kept with the stamps of the files that they were made from."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.watched import unchanged

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cvm.elf.watched import Stamp

# So many are kept: a few environments, each with a few toolchains.
_MOST = 64


class Answer(NamedTuple):
    """A sentence, or None for nothing to say."""

    text: str | None


def recall(path: Path) -> Answer | None:
    """Return a kept answer that still holds, None where there is none."""
    try:
        kept = json.loads(path.read_bytes())
        text = kept["answer"]
        holds = isinstance(text, str | None) and unchanged(kept["stamps"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Answer(text) if holds else None


def keep(path: Path, answer: Answer, stamps: Mapping[str, Stamp]) -> None:
    """Keep an answer, and drop the oldest of too many; where nothing can be written nothing is kept."""
    text = json.dumps({"answer": answer.text, "stamps": stamps})
    with suppress(OSError, UnicodeEncodeError):
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = path.with_suffix(f".{os.getpid()}")
        try:
            staged.write_text(text)
            staged.replace(path)
        finally:
            staged.unlink(missing_ok=True)
        _drop_oldest(path.parent)


def _drop_oldest(folder: Path) -> None:
    by_age = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in by_age[:-_MOST]:
        path.unlink(missing_ok=True)
