"""The only ways in which a repair changes a prefix: a new link, or a new file in place of an old one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

READABLE = 0o444
EXECUTABLE = 0o555


def make_link(prefix: Path, path: str, target: str) -> bool:
    """Make a symbolic link unless something stands there already; says whether it did."""
    link = prefix / path
    if os.path.lexists(link):
        return False
    make_folder(link.parent)
    link.symlink_to(target)
    return True


def write_file(prefix: Path, path: str, data: bytes, mode: int = READABLE) -> bool:
    """Write a new file, or replace one by a new file: never through a link to the store; says whether it did."""
    file = prefix / path
    if not file.is_symlink() and file.is_file() and file.read_bytes() == data and file.stat().st_mode & 0o777 == mode:
        return False
    make_folder(file.parent)
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_bytes(data)
    fresh.chmod(mode)
    fresh.replace(file)
    return True


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, open to everybody whatever the umask."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir()
    folder.chmod(0o755)
