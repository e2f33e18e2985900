"""Versions and functions that C headers state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def macros(header: Path, names: Sequence[str]) -> tuple[int, ...] | None:
    """Return the whole numbers that a header defines, in the order of the names; None unless all are there."""
    text = read_header(header)
    found = [re.search(rf"^[ \t]*#[ \t]*define[ \t]+{name}[ \t]+\(?(\d+)\b", text, re.MULTILINE) for name in names]
    return tuple(int(match[1]) for match in found if match) if all(found) else None


def read_header(header: Path) -> str:
    """Return a header's text, empty when there is none."""
    try:
        return header.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
