"""Write down a selection: the global default, or a folder's `.cuda-version`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.actions.choose import choose
from cvm.core.names import SYSTEM, is_link_name
from cvm.core.request import parse_request
from cvm.core.version_file import NAME, read_pinned, request_parts, rewritten
from cvm.disk import disk_error, make_folder, replace_file
from cvm.errors import UsageError
from cvm.selected import read_text

if TYPE_CHECKING:
    from cvm.layout import Layout


def pin_global(request: str, layout: Layout) -> Path:
    """Make a request the global default; raises NotInstalledError where nothing answers it."""
    _check(request, layout)
    make_folder(layout.home)
    # As with toolchains: whoever may enter the home may read what it selects.
    return _write(layout.global_file, request, 0o644)


def pin_local(request: str, folder: Path, layout: Layout, *, force: bool = False) -> Path:
    """Write a request into the folder's `.cuda-version`; `force` allows one that isn't installed here."""
    if force:
        _spelled(request)
    else:
        _check(request, layout)
    return _write(folder / NAME, request)


def unpin(path: Path) -> bool:
    """Remove a file that selects; returns whether it was there."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise disk_error(error, path) from error
    return True


def _check(request: str, layout: Layout) -> None:
    _spelled(request)
    if request != SYSTEM:
        choose(request, layout)


def _spelled(request: str) -> None:
    """Refuse what could not be read back from a file."""
    if request_parts(request) is None:
        raise UsageError(f"`{request}` is not a CUDA version", hint="write it as 12.1 or 12.1-cudnn8.9.4")
    read_pinned(request, NAME)
    if request != SYSTEM and not is_link_name(request):
        parse_request(request)


def _write(path: Path, request: str, mode: int | None = None) -> Path:
    """Replace the request in a file, and leave its other comments; a link to a file is followed."""
    real = Path(os.path.realpath(path))
    text = read_text(real) if real.is_file() else ""
    try:
        replace_file(real, os.fsencode(rewritten(text, request)), _mode(real) if mode is None else mode)
    except OSError as error:
        raise disk_error(error, path) from error
    return path


def _mode(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
