"""The files of an installed distribution, as its record lists them."""

from __future__ import annotations

import csv
import json
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.core.packages import Distribution
    from cvm.elf.files import Files


def recorded(distribution: Distribution, files: Files, part: str = "") -> dict[str, int | None]:
    """Return the files of a distribution whose recorded names hold a text: path -> size, None where it isn't recorded.

    Empty for a distribution without a record: a development install, a distribution package.
    """
    if distribution.info.endswith(".json"):
        return dict(_conda(distribution.info, files, part))
    for name, read in (("RECORD", _wheel), ("installed-files.txt", _egg)):
        try:
            text = files.content(f"{distribution.info}/{name}").decode("utf-8", "surrogateescape")
        except OSError:
            continue
        lines = [line for line in text.splitlines() if part in line]
        return dict(read(distribution, lines))
    return {}


def libraries(distribution: Distribution, files: Files) -> dict[str, int | None]:
    """Return the shared libraries and extension modules of a distribution, sorted by path."""
    found = recorded(distribution, files, ".so")
    named = {path: size for path, size in found.items() if _is_library(path.rpartition("/")[2])}
    return dict(sorted(named.items()))


def _is_library(name: str) -> bool:
    stem, dot, version = name.partition(".so.")
    return name.endswith(".so") or bool(dot and stem and version.replace(".", "").isdigit())


def _wheel(distribution: Distribution, lines: list[str]) -> Iterator[tuple[str, int | None]]:
    for line in lines:
        # Line by line: a damaged one spoils no other.
        with suppress(csv.Error, ValueError):
            name, _, size, *_ = *next(csv.reader([line])), "", ""
            yield _joined(distribution.folder, name), int(size) if size else None


def _egg(distribution: Distribution, lines: list[str]) -> Iterator[tuple[str, int | None]]:
    for line in lines:
        yield _joined(distribution.info, line), None


def _conda(info: str, files: Files, part: str) -> Iterator[tuple[str, int | None]]:
    """Read a document of `conda-meta`, whose names count from the environment's root."""
    try:
        names = [name for name in json.loads(files.content(info))["files"] if isinstance(name, str)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    root = info.rpartition("/conda-meta/")[0]
    for name in names:
        if part in name:
            yield _joined(root, name), None


def _joined(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name))
