"""Archives that are unpacked in a store already, for tests of what is made of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cvm.core.entry import StoredFile
from cvm.core.manifest import Archive
from cvm.core.plan import PlannedArchive
from cvm.prefix.parts import Part
from cvm.store import Entry
from tests.fakes.redist import LICENSE, archive_name
from tests.fakes.toolkit import Members, toolkit, write_tree

if TYPE_CHECKING:
    from pathlib import Path


def part(
    store: Path, component: str, version: str, members: Members, *, product: str = "cuda", filename: str = ""
) -> Part:
    """An archive whose members are given in the layout inside its one folder, or a wheel's own paths."""
    name = filename or archive_name(component, "linux-x86_64", version)
    if not name.endswith(".whl"):
        top = name.removesuffix(".tar.xz")
        members = {f"{top}/{path}": member for path, member in {"LICENSE": LICENSE, **members}.items()}
    sha256 = hashlib.sha256(repr(sorted(members.items())).encode()).hexdigest()
    folder = store / sha256
    write_tree(members, folder / "tree")
    files = tuple(
        StoredFile(path, member.mode, target=member.target)
        if member.target
        else StoredFile(path, member.mode, len(member.data), hashlib.sha256(member.data).hexdigest())
        for path, member in members.items()
    )
    for file in files:
        if not file.is_link:
            (folder / "tree" / file.path).chmod(0o555 if file.mode & 0o111 else 0o444)
    archive = Archive("pypi" if name.endswith(".whl") else "redist", "linux-x86_64", name, sha256, 1)
    return Part(
        PlannedArchive(product, component, version, "CUDA Toolkit", archive), Entry(sha256, name, folder, files)
    )


def toolkit_parts(store: Path, version: str) -> tuple[Part, ...]:
    """A whole tiny toolkit from archives."""
    return tuple(part(store, key, number, members) for key, (number, members) in toolkit(version).items())
