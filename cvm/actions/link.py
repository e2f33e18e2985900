"""Adopt a toolkit that is already on disk; nothing in it is touched."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from cvm import __version__
from cvm.actions.rehash import rehash
from cvm.core.receipt import LINKED, Receipt
from cvm.core.request import parse_link_name
from cvm.disk import remove_tree, replace_folder, staging_folder
from cvm.errors import UsageError
from cvm.prefix.probe import companion_versions, toolkit_version
from cvm.prefix.receipt import read_receipt, write_receipt

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.layout import Layout


def link(name: str, path: Path, layout: Layout, *, platform: str, created: str, force: bool = False) -> Receipt:
    """Record a toolkit under a name; the caller holds the install lock.

    Raises UsageError when the name is taken or can't be used, or when there is no toolkit at the path.
    """
    parse_link_name(name)
    target = layout.toolchain(name)
    if read_receipt(target) is not None and not force:
        raise UsageError(f"`{name}` is linked already", hint=f"cvm link --force {name} {shlex.quote(str(path))}")
    root = path.expanduser().absolute()
    receipt = Receipt(
        name=name,
        kind=LINKED,
        toolkit=str(toolkit_version(root)),
        companions=tuple(companion_versions(root)),
        platform=platform,
        path=str(root),
        created=created,
        cvm=__version__,
    )
    staged = staging_folder(layout.toolchains)
    try:
        write_receipt(staged, receipt, {})
        replace_folder(staged, target)
    finally:
        remove_tree(staged)
    rehash(layout)
    return receipt
