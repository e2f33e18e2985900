"""Where a tool is: in the selected toolchain, or on PATH outside the shims."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.errors import ToolMissingError

if TYPE_CHECKING:
    from cvm.layout import Layout


def tool_in(prefix: str, name: str, said: str, layout: Layout) -> Path:
    """Return a tool of a toolchain; raises ToolMissingError that names those that have it."""
    path = Path(prefix) / "bin" / name
    if _runs(path):
        return path
    hint = f"cvm exec NAME -- {name}, where NAME is one of {names}" if (names := having(name, layout)) else None
    raise ToolMissingError(f"{name} is not in {said}", hint=hint or "no installed toolchain has it")


def having(name: str, layout: Layout) -> str:
    """Name the toolchains that have a tool, separated by commas."""
    from cvm.toolchains import installed

    return ", ".join(t.name for t in installed(layout) if _runs(Path(t.prefix) / "bin" / name))


def tool_on_path(name: str, path: str, layout: Layout) -> Path | None:
    """Return the first tool of a name on PATH that is no shim: what its name means where nothing is selected."""
    for folder in filter(None, path.split(":")):
        candidate = Path(folder, name)
        if not _is_shims(Path(folder), layout) and _runs(candidate):
            return candidate
    return None


def _is_shims(folder: Path, layout: Layout) -> bool:
    try:
        return folder.samefile(layout.shims)
    except OSError:
        return False


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
