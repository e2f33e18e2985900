"""The receipt of a toolchain on disk, and the table of its files beside it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from cvm.core.receipt import Receipt, parse_receipt, receipt_document
from cvm.disk import disk_error, readable_folder, sync_folder
from cvm.layout import RECEIPT, RECORDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FILES = "files.json"


def write_receipt(prefix: Path, receipt: Receipt, files: Mapping[str, str]) -> None:
    """Record an install: the table of files first, the receipt last, for a folder with a receipt is complete.

    Raises DiskError.
    """
    folder = readable_folder(prefix / RECORDS)
    _write(folder / _FILES, {"schema": 1, "files": dict(files)})
    _write(folder / RECEIPT, receipt_document(receipt))


def read_receipt(prefix: Path) -> Receipt | None:
    """Return the receipt of a toolchain, or None where there is none that can be read."""
    return parse_receipt(_read(prefix / RECORDS / RECEIPT))


def read_files(prefix: Path) -> dict[str, str]:
    """Return the files of a toolchain: path -> sha256, or `-> target` for a link; empty when unknown."""
    document = _read(prefix / RECORDS / _FILES)
    files = document.get("files") if isinstance(document, dict) else None
    return {str(path): str(mark) for path, mark in files.items()} if isinstance(files, dict) else {}


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def _write(path: Path, document: Mapping[str, Any]) -> None:
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("w", encoding="utf-8") as stream:
            # File names that are not UTF-8 are escaped, as Python keeps them.
            json.dump(document, stream, indent=1)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
        fresh.chmod(0o644)
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise disk_error(error, path) from error
