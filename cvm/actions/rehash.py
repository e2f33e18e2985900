"""Bring what follows from the installed toolchains up to date: links, shims, `env.sh`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cvm.core.environment import activation
from cvm.disk import disk_error, replace_file
from cvm.layout import RECORDS
from cvm.prefix.folders import folders_of
from cvm.resolved import refresh_links
from cvm.shell import env_sh
from cvm.shims import refresh_shims
from cvm.toolchains import installed

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.core.toolchain import Toolchain
    from cvm.layout import Layout


def rehash(layout: Layout) -> tuple[str, ...]:
    """Write links, shims and `env.sh` anew where they differ, and return the tools that have a shim.

    The caller holds the install lock. Raises DiskError. What is there is valid at any moment; after a
    move of the home, this is what makes its absolute paths right again.
    """
    toolchains = installed(layout)
    for toolchain in toolchains:
        if not toolchain.site:
            _write_records(toolchain, layout.toolchain(toolchain.name) / RECORDS)
    refresh_links(layout, toolchains)
    refresh_shims(layout, toolchains)
    return tuple(sorted(path.name for path in layout.shims.iterdir()))


def _write_records(toolchain: Toolchain, folder: Path) -> None:
    """Write the activation for sh, and the prefix in a line of its own, which a shim can read without a process."""
    wanted = activation(toolchain.name, folders_of(toolchain.prefix), toolchain.companions, libraries=False)
    try:
        replace_file(folder / "env.sh", os.fsencode(env_sh.render(wanted)))
        if "\n" not in toolchain.prefix:
            replace_file(folder / "prefix", os.fsencode(toolchain.prefix + "\n"))
    except OSError as error:
        raise disk_error(error, folder) from error
