"""Finding the selection: the variable, the nearest `.cuda-version`, the global default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.core.names import TOOLCHAIN
from cvm.core.selection import Selection
from cvm.core.version_file import NAME, plain_request, read_pinned
from cvm.errors import DiskError, UsageError
from cvm.resolved import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.layout import Layout


_LONGEST = 1 << 16


def selection(layout: Layout, environment: Mapping[str, str], folder: Path | None) -> Selection | None:
    """Return the request in force in a folder, or None where nothing selects one; `shims/shim.sh` is its twin.

    Raises UsageError for a file or variable that can't be understood, DiskError for a file that can't be read.
    """
    return from_variable(layout, environment) or from_files(layout, folder)


def from_variable(layout: Layout, environment: Mapping[str, str]) -> Selection | None:
    """Return what `use` selected in this shell; raises UsageError when it is no request."""
    text = environment.get(TOOLCHAIN)
    if not text:
        return None
    # The exact name of a toolchain for another platform has a form that no request has.
    request = plain_request(text, TOOLCHAIN) or (text if resolve(layout, text) else None)
    if request is None:
        raise UsageError(f"{TOOLCHAIN} is `{text[:40]}`, which is not a CUDA version", hint="cvm unuse")
    return Selection(request, TOOLCHAIN)


def from_files(layout: Layout, folder: Path | None) -> Selection | None:
    """Return what a folder selects: the nearest `.cuda-version`, else the global default."""
    nearest = None if folder is None else nearest_file(folder)
    candidates = [nearest] if nearest else [home / layout.global_file.name for home in layout.homes()]
    found = next((path for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113 - never raises
    return None if found is None else read_selection(found)


def read_selection(path: Path) -> Selection:
    """Return what a file selects; raises UsageError, DiskError."""
    pinned = read_pinned(read_text(path), str(path))
    return Selection(pinned.request, f"{path}:{pinned.line}")


def nearest_file(folder: Path) -> Path | None:
    """Return the `.cuda-version` that counts in a folder: its own, or the nearest above it."""
    files = (parent / NAME for parent in (folder, *folder.parents))
    # Unlike Path.is_file, it says no of what may not be looked at.
    return next((path for path in files if os.path.isfile(path)), None)  # noqa: PTH113


def current_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder that the shell is in, by the name that the shell has for it; None when it is gone."""
    try:
        here = os.stat(".")  # noqa: PTH116 - Path(".") would be read back as an absolute path
        logical = environment.get("PWD", "")
        if logical.startswith("/") and ".." not in logical.split("/") and os.path.samestat(here, os.stat(logical)):  # noqa: PTH116
            return Path(logical)
    except OSError:
        pass
    try:
        return Path.cwd()
    except OSError:
        return None


def read_text(path: Path) -> str:
    """Read such a file, whatever its bytes are; raises DiskError or, for an endless one, UsageError that names it."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LONGEST + 1)
    except OSError as error:
        raise DiskError(f"{path} can't be read: {str(error.strerror).lower()}", hint="make it readable") from error
    if len(content) > _LONGEST:
        raise UsageError(f"{path} is too long to name a CUDA version", hint="write it as 12.1 or 12.1-cudnn8.9.4")
    return content.decode("utf-8", "surrogateescape")
