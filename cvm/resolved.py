"""The links in `resolved/`: what each request means, found without reading a receipt. The shims read them too."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cvm.disk import disk_error, drop_files, readable_folder, replace_link
from cvm.layout import RECEIPT, RECORDS, resolved_folder, toolchains_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.toolchain import Toolchain
    from cvm.layout import Layout


class Answer(NamedTuple):
    """The toolchain that a link leads to: its exact name, the home that has it, and its prefix."""

    name: str
    home: Path
    prefix: Path

    @property
    def records(self) -> Path:
        """The folder of its receipt: that of a linked toolkit lies outside of its tree."""
        return toolchains_folder(self.home) / self.name / RECORDS


def resolve(layout: Layout, request: str) -> Answer | None:
    """Return what a request means by the links of the user's own home, else the site's; None without a link."""
    for home in layout.homes():
        link = resolved_folder(home) / request
        try:
            target = Path(os.path.normpath(link.parent / link.readlink()))
        except (OSError, ValueError):
            continue
        if target.is_dir():
            return Answer(target.name if target.parent == toolchains_folder(home) else request, home, target)
    return None


def companions_of(answer: Answer) -> frozenset[str] | None:
    """Return the companions in a toolchain, by its receipt; None where that can't be read."""
    try:
        return frozenset(json.loads((answer.records / RECEIPT).read_bytes())["companions"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def refresh_links(layout: Layout, toolchains: Iterable[Toolchain]) -> None:
    """Write one link for each request that the user's own toolchains answer; the caller holds the install lock.

    Each link is replaced in one step: no moment shows a request without an answer. Raises DiskError.
    """
    from cvm.core.toolchain import requests_answered

    own = tuple(toolchain for toolchain in toolchains if not toolchain.site)
    wanted = {request: _target(layout, toolchain) for request, toolchain in requests_answered(own).items()}
    folder = readable_folder(layout.resolved)
    try:
        for request, target in wanted.items():
            replace_link(folder / request, target)
        drop_files(folder, {path.name for path in folder.iterdir() if path.is_symlink()} - set(wanted))
    except OSError as error:
        raise disk_error(error, folder) from error


def _target(layout: Layout, toolchain: Toolchain) -> str:
    """Return what a link holds: relative inside the home, so that a moved home keeps its answers."""
    inside = toolchain.prefix == str(layout.toolchain(toolchain.name))
    return f"../toolchains/{toolchain.name}" if inside else toolchain.prefix
