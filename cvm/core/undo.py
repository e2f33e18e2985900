"""What switching wrote into an environment, kept in the environment itself, so that it can be taken back."""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

UNDO = "_CVM_UNDO"


class Saved(NamedTuple):
    """One variable: its value before (None: not set), the value written, and for a path list the elements added."""

    name: str
    before: str | None
    written: str | None
    added: tuple[str, ...] | None = None


def encode(saved: Iterable[Saved]) -> str:
    """Pack records into a word that needs quotes in no shell."""
    rows = [[item.name, item.before, item.written, item.added] for item in saved]
    # A path list stands in it twice: compressed, it takes less than the list itself.
    return urlsafe_b64encode(zlib.compress(json.dumps(rows).encode())).decode().rstrip("=")


def decode(text: str) -> tuple[Saved, ...]:
    """Unpack records; what can't be read, as another version may have written it, counts as none."""
    try:
        rows = json.loads(zlib.decompress(urlsafe_b64decode(text + "=" * (-len(text) % 4))))
        return tuple(_record(*row) for row in rows)
    except (ValueError, TypeError, zlib.error):
        return ()


def _record(name: str, before: str | None, written: str | None, added: list[str] | None) -> Saved:
    texts = (name, before or "", written or "", *(added or ()))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(name)
    return Saved(name, before, written, None if added is None else tuple(added))
