"""What the records of the CUDA distributions say about the libraries on disk: shared ones, and lost ones.

pip writes each file into RECORD with its hash and size, relative to the folder of the modules. Two distributions that
bring one file overwrite each other without a word, and removing either removes the file of both.
https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.core.packages import LostFile, SharedFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.elf.files import Files

_CUDA = ("nvidia-", "tensorrt", "cupy")
_FRAMEWORKS = ("torch", "jaxlib", "jax-cuda", "tensorflow")
_LIBRARY = re.compile(r"\.so(\.[0-9]+)*$")


class Entry(NamedTuple):
    """A library in a RECORD: `sha256` in hex and `size` in bytes, None where the record lacks them."""

    owner: Distribution
    path: str
    sha256: str | None
    size: int | None

    @property
    def content(self) -> tuple[str | None, int | None]:
        """What tells it from another file."""
        return self.sha256, self.size


def shared_files(environment: PythonEnvironment, files: Files) -> tuple[SharedFile, ...]:
    """Return the libraries that several CUDA distributions bring with different content, and whose is there."""
    shared = (_shared(path, entries, files) for path, entries in _by_path(environment, files).items())
    return tuple(one for one in shared if one)


def lost_files(environment: PythonEnvironment, files: Files) -> tuple[LostFile, ...]:
    """Return the libraries that a CUDA distribution or a framework has in its record, and that are gone.

    conda may move the files of a package that it repacks, so its records are not held against it.
    """
    return tuple(
        LostFile(entry.path, owner)
        for owner in environment.distributions
        if owner.name.startswith((*_CUDA, *_FRAMEWORKS)) and not _is_condas(owner, files)
        for entry in _entries(owner, files)
        if isinstance(files.identity(entry.path), int)
    )


def _by_path(environment: PythonEnvironment, files: Files) -> Mapping[str, Sequence[Entry]]:
    found: dict[str, list[Entry]] = {}
    for owner in environment.distributions:
        if owner.name.startswith(_CUDA):
            for entry in _entries(owner, files):
                found.setdefault(entry.path, []).append(entry)
    return found


def _shared(path: str, entries: Sequence[Entry], files: Files) -> SharedFile | None:
    if len({entry.content for entry in entries}) < 2:
        return None
    owners = tuple(entry.owner for entry in entries)
    there = not isinstance(files.identity(path), int)
    return SharedFile(path, owners, _holder(path, entries, files) if there else None, there)


def _holder(path: str, entries: Sequence[Entry], files: Files) -> Distribution | None:
    """Return whose file it is: by its size where that decides, else by its hash, which takes a second a gigabyte."""
    try:
        data = files.elf(path).data
    except OSError:
        return None
    left = [entry for entry in entries if entry.size in (None, len(data))]
    if len({entry.sha256 for entry in left}) > 1:
        digest = hashlib.sha256(data).hexdigest()
        left = [entry for entry in left if entry.sha256 in (None, digest)]
    return left[0].owner if left else None


def _entries(owner: Distribution, files: Files) -> Iterator[Entry]:
    """Read the libraries from a record, each once; a distribution without a record has none."""
    try:
        content = files.content(posixpath.join(owner.info, "RECORD"))
    except OSError:
        return
    for path, sha256, size in (_row(line) for line in content.splitlines() if b".so" in line):
        if _LIBRARY.search(path):
            yield Entry(owner, posixpath.normpath(posixpath.join(owner.folder, path)), sha256, size)


def _row(line: bytes) -> tuple[str, str | None, int | None]:
    """Read path, hash and size; a damaged line spoils no other."""
    try:
        path, digest, size, *_ = *next(csv.reader([os.fsdecode(line)])), "", ""
        return path, _hex(digest), int(size) if size else None
    except (csv.Error, ValueError):
        return "", None, None


def _hex(digest: str) -> str | None:
    """Turn `sha256=<base64 without padding>` into hex; other hashes are not looked at."""
    kind, _, text = digest.partition("=")
    if kind != "sha256":
        return None
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()
    except ValueError:
        return None


def _is_condas(owner: Distribution, files: Files) -> bool:
    try:
        return files.content(posixpath.join(owner.info, "INSTALLER")).strip() == b"conda"
    except OSError:
        return False
