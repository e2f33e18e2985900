"""`$ORIGIN`, `$LIB` and `$PLATFORM` in the names and paths of an ELF file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\$(?:\{(ORIGIN|PLATFORM|LIB)\}|(ORIGIN|PLATFORM|LIB)(?![A-Za-z0-9_]))")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace the tokens; a text with a token that has no value becomes empty, as for the loader."""
    if "$" not in text:
        return text
    names = [braced or plain for braced, plain in _TOKEN.findall(text)]
    if any(not values.get(name) for name in names):
        return ""
    return _TOKEN.sub(lambda match: values[match[1] or match[2]], text)
