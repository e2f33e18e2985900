"""`/etc/ld.so.conf` and what it includes: which file brings which folder into ldconfig's cache."""

from __future__ import annotations

import fnmatch
import os
import posixpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.elf.files import Files

PATH = "/etc/ld.so.conf"


class ConfiguredFolder(NamedTuple):
    """A folder that ldconfig looks into, and the line that says so."""

    folder: str
    file: str
    line: int


def read_conf(files: Files, path: str = PATH) -> tuple[ConfiguredFolder, ...]:
    """Return the folders in order, the first of equal ones; for ldconfig too a file that can't be read is empty."""
    seen: dict[str, ConfiguredFolder] = {}
    for entry in _folders(files, path, set()):
        seen.setdefault(entry.folder, entry)
    return tuple(seen.values())


def _folders(files: Files, path: str, read: set[str]) -> Iterator[ConfiguredFolder]:
    # A file that is included again adds nothing, and must not go round in a circle.
    if path in read:
        return
    read.add(path)
    try:
        text = os.fsdecode(files.content(path))
    except OSError:
        return
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.partition("#")[0].split()
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                for included in _matches(files, posixpath.join(posixpath.dirname(path), pattern)):
                    yield from _folders(files, included, read)
        elif words and words[0] != "hwcap":
            # A folder may carry the kind of library it holds, as in `/usr/lib=libc6`.
            yield ConfiguredFolder(_stripped(words[0].partition("=")[0]), path, number)


def _stripped(folder: str) -> str:
    return folder.rstrip("/") or "/"


def _matches(files: Files, pattern: str) -> list[str]:
    """Return the files that a pattern names, sorted; the folder itself may hold a star too."""
    parts = pattern.split("/")
    paths = [""]
    for part in parts[1:]:
        if any(sign in part for sign in "*?["):
            # As for a shell, a star does not match a leading dot.
            paths = [f"{path}/{name}" for path in paths for name in _named(files, path, part)]
        else:
            paths = [f"{path}/{part}" for path in paths]
    return paths


def _named(files: Files, folder: str, pattern: str) -> list[str]:
    names = fnmatch.filter(sorted(files.names(folder or "/")), pattern)
    return [name for name in names if pattern.startswith(".") or not name.startswith(".")]
