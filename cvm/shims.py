"""The exec shims: one small sh script for each CUDA tool, all alike, in the folder that stands on PATH."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.disk import disk_error, drop_files, readable_folder, replace_file
from cvm.resources import resource
from cvm.shell.quote import quote_posix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.toolchain import Toolchain
    from cvm.layout import Layout


def tool_names() -> tuple[str, ...]:
    """Return the names that may have a shim: CUDA's own, never whatever a linked tree's `bin` holds."""
    return tuple((resource("shims") / "tools.txt").read_text().split())


def refresh_shims(layout: Layout, toolchains: Iterable[Toolchain]) -> None:
    """Write a shim for each tool that some toolchain has, and remove the others; the caller holds the install lock.

    A shim is replaced in one step: at no moment is one missing or half there. Raises DiskError.
    """
    prefixes = [Path(toolchain.prefix) for toolchain in toolchains]
    wanted = {name for name in tool_names() if any((prefix / "bin" / name).is_file() for prefix in prefixes)}
    folder = readable_folder(layout.shims)
    content = _script(layout)
    try:
        for name in sorted(wanted):
            replace_file(folder / name, content, 0o755)
        drop_files(folder, set(tool_names()) - wanted)
    except OSError as error:
        raise disk_error(error, folder) from error


def _script(layout: Layout) -> bytes:
    template = (resource("shims") / "shim.sh").read_text()
    return os.fsencode(template.replace("@CVM_HOME@", quote_posix(str(layout.home))))
