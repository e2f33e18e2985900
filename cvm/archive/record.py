"""The hashes that a wheel states of its files."""

from __future__ import annotations

import csv
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_record(root: str, paths: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Return (sha256, size) of the files that the RECORD of an unpacked wheel knows, by path; empty without one.

    The archive's own hash covers RECORD, so that these need no computing.
    """
    records = [path for path in paths if path.count("/") == 1 and path.endswith(".dist-info/RECORD")]
    if len(records) != 1:
        return {}
    with open(f"{root}/{records[0]}", encoding="utf-8", errors="replace", newline="") as lines:  # noqa: PTH123
        rows = [row for row in csv.reader(lines) if len(row) == 3]
    return {path: (digest, int(size)) for path, text, size in rows if size.isdigit() and (digest := _digest(text))}


def _digest(text: str) -> str:
    method, _, value = text.partition("=")
    if method != "sha256":
        return ""
    try:
        digest = urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except (Base64Error, ValueError):
        return ""
    return digest.hex() if len(digest) == 32 else ""
