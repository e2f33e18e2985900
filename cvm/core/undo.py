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
    """One variable: its value before (None: not set), and the value written.

    Of a path list, `added` are the elements that were put into it, and `written` is the mark of its value: a
    program takes no variable above 128 KB, so a long list had better not stand in the record twice.
    """

    name: str
    before: str | None
    written: str | None
    added: tuple[str, ...] | None = None


def encode(saved: Iterable[Saved]) -> str:
    """Pack records into a word that needs quotes in no shell."""
    rows = [[item.name, item.before, item.written, item.added] for item in saved]
    return urlsafe_b64encode(zlib.compress(json.dumps(rows).encode())).decode().rstrip("=")


def mark(value: str) -> str:
    """Return what tells a value from others."""
    return f"{len(value)}:{zlib.crc32(value.encode('utf-8', 'surrogatepass')):08x}"


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
