"""The distributions of an environment, as their metadata says: pip's, distutils' and conda's."""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING

from cvm.core.packages import Distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cvm.core.packages import SearchFolder
    from cvm.elf.files import Files

_FIELD = re.compile(rb"^(name|version|requires-dist)[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_MOST = 1 << 20  # of a METADATA file are looked at
_LONGEST = 100  # that a name or version is
_SEPARATORS = re.compile(r"[-_.]+")

# Where the metadata is, by how the name of a folder ends.
_METADATA = {".dist-info": ("METADATA",), ".egg-info": ("PKG-INFO", ""), ".egg": ("EGG-INFO/PKG-INFO",)}
_PYTHON_PACKAGE = re.compile(rb"\.(dist|egg)-info[/\"]")


def normalized(name: str) -> str:
    """Return the form of a distribution's name under which it is compared: PEP 503."""
    return _SEPARATORS.sub("-", name).lower()


def distributions(search: Sequence[SearchFolder], prefix: str, files: Files) -> tuple[Distribution, ...]:
    """Return all distributions in the order of the search path, then what conda installed that is no Python package."""
    found: list[Distribution] = []
    seen = set()
    for folder in (one.path for one in search):
        # The same folder under two names, such as lib and lib64, counts once.
        which = files.identity(folder)
        if which not in seen:
            found += _in_folder(folder, files)
            seen.add(which)
    found += _of_conda(prefix, {one.name for one in found}, files)
    return tuple(found)


def _in_folder(folder: str, files: Files) -> Iterator[Distribution]:
    if folder.endswith(".egg"):
        yield from _read(folder, folder, files)
    for name in sorted(files.names(folder)):
        # `~orch-2.1.0.dist-info` is what an uninstall that failed has left.
        if name.endswith((".dist-info", ".egg-info")) and not name.startswith("~"):
            yield from _read(folder, posixpath.join(folder, name), files)


def _read(folder: str, info: str, files: Files) -> Iterator[Distribution]:
    """Read one distribution; one without a name is none."""
    content = _content(info, files)
    end = _BLANK_LINE.search(content)
    header = content[: end.start()] if end else content
    fields = [(key.lower(), os.fsdecode(value)) for key, value in _FIELD.findall(header)]
    single = dict(reversed(fields))
    name, version = single.get(b"name"), single.get(b"version", "")
    if name and max(len(name), len(version)) <= _LONGEST:
        requires = tuple(value for key, value in fields if key == b"requires-dist")
        yield Distribution(normalized(name), version, folder, info, requires)


def _content(info: str, files: Files) -> bytes:
    for name in _METADATA[posixpath.splitext(info)[1]]:
        try:
            return files.content(posixpath.join(info, name) if name else info)[:_MOST]
        except OSError:
            continue
    return b""


def _of_conda(prefix: str, known: set[str], files: Files) -> Iterator[Distribution]:
    """Iterate over conda's packages without Python metadata: cudnn, cuda-cudart, libtorch, pytorch-cuda.

    conda names the file `<name>-<version>-<build>.json`; version and build have no dashes.
    """
    folder = posixpath.join(prefix, "conda-meta")
    for file in sorted(files.names(folder)):
        parts = file.removesuffix(".json").rsplit("-", 2)
        if not file.endswith(".json") or len(parts) < 3 or normalized(parts[0]) in known:
            continue
        info = posixpath.join(folder, file)
        if not _is_python(info, files):
            yield Distribution(parts[0], parts[1], prefix, info)


def _is_python(info: str, files: Files) -> bool:
    """Whether a package of conda's brings Python metadata, under whatever name: `pytorch` is the distribution torch."""
    try:
        return _PYTHON_PACKAGE.search(files.content(info)) is not None
    except OSError:
        return True
