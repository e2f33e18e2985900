"""The folder that an archive is unpacked into: nothing is written outside of it, and nothing twice."""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from cvm.archive.links import check_links
from cvm.archive.names import clean_path, clean_target
from cvm.core.entry import StoredFile
from cvm.core.modes import executable
from cvm.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Protocol

    class _Hash(Protocol):
        def update(self, data: bytes | memoryview, /) -> None: ...
        def hexdigest(self) -> str: ...


MAX_MEMBERS = 1_000_000
PROGRAM, DATA = 0o555, 0o444
_SET_ID_BITS = 0o6000


class Tree:
    """Writes the members of one archive under `root`; every method raises IntegrityError for an unsafe one.

    Links are made last, so that no file can be written through one. Hashes are computed on the way when `hashing`
    is set, else at the end for those files whose hashes nobody knew.
    """

    def __init__(self, root: Path, archive: str, limit: int | None, *, hashing: bool) -> None:
        self.root = os.fspath(root)
        self._archive = archive
        self._limit = limit
        self._left = limit if limit is not None else 1 << 62
        self._hashing = hashing
        self._folders = {""}
        self._files: dict[str, StoredFile] = {}
        self._heads: dict[str, bytes] = {}
        self._members = 0

    def folder(self, name: str) -> None:
        """Make a folder; that it exists is no fault."""
        self._count()
        self._make_folder(clean_path(name, self._archive))

    def file(self, name: str, blocks: Iterable[bytes | memoryview], mode: int = 0) -> StoredFile:
        """Write a file from its bytes."""
        path = self._claim(name)
        hashed = sha256() if self._hashing else None
        descriptor = os.open(f"{self.root}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            size = self._write(path, descriptor, blocks, hashed)
        finally:
            os.close(descriptor)
        return self._keep(StoredFile(path, mode, size, hashed.hexdigest() if hashed else ""))

    def link(self, name: str, target: str) -> None:
        """Remember a symbolic link, to be made at the end."""
        path = self._claim(name)
        self._keep(StoredFile(path, target=clean_target(target, path, self._archive)))

    def hard_link(self, name: str, original: str) -> None:
        """Give a file that is there already a second path."""
        known = self._files.get(clean_path(original, self._archive))
        path = self._claim(name)
        if known is None:
            raise self.unsafe(f"{path} is a hard link to {original}, which is not in it")
        if not known.target:
            os.link(f"{self.root}/{known.path}", f"{self.root}/{path}", follow_symlinks=False)
            self._heads[path] = self._heads.get(known.path, b"")
        self._keep(replace(known, path=path))

    def become_link(self, path: str) -> None:
        """Take the bytes of a file for the target of a link: so zip archives keep them."""
        file = f"{self.root}/{path}"
        with open(file, "rb") as stream:  # noqa: PTH123
            target = stream.read(4097)
        os.unlink(file)  # noqa: PTH108
        self._files[path] = StoredFile(path, target=clean_target(target, path, self._archive))

    def set_modes(self, modes: Mapping[str, int]) -> None:
        """Say the modes of files, where the archive tells them last."""
        for path, mode in modes.items():
            self._keep(replace(self._files[path], mode=mode))

    def set_hashes(self, hashes: Mapping[str, tuple[str, int]]) -> None:
        """Say hashes and sizes of files that the archive states itself; one with another size is not believed."""
        for path, (digest, size) in hashes.items():
            known = self._files.get(path)
            if known is not None and not known.target and known.size == size:
                self._files[path] = replace(known, sha256=digest)

    def finish(self) -> tuple[StoredFile, ...]:
        """Make the links, set the modes, and return what the tree holds in the order of paths."""
        files = tuple(self._finished(self._files[path]) for path in sorted(self._files))
        check_links({file.path: file.target for file in files if file.target}, self._archive)
        for file in files:
            place = f"{self.root}/{file.path}"
            if file.target:
                os.symlink(file.target, place)  # noqa: PTH211
            else:
                program = executable(file.path, file.mode, self._heads.get(file.path, b""))
                os.chmod(place, PROGRAM if program else DATA)  # noqa: PTH101
        return files

    def unsafe(self, what: str) -> IntegrityError:
        """Describe a member that is refused."""
        return IntegrityError(f"{self._archive} is refused: {what}")

    def _finished(self, file: StoredFile) -> StoredFile:
        if file.sha256 or file.target:
            return file
        hashed = sha256()
        with open(f"{self.root}/{file.path}", "rb", buffering=0) as stream:  # noqa: PTH123
            while block := stream.read(1 << 20):
                hashed.update(block)
        return replace(file, sha256=hashed.hexdigest())

    def _write(self, path: str, descriptor: int, blocks: Iterable[bytes | memoryview], hashed: _Hash | None) -> int:
        size = 0
        for block in blocks:
            if not size:
                self._heads[path] = bytes(block[:4])
            length = len(block)
            size += length
            self._left -= length
            if self._left < 0:
                raise self.unsafe(f"it holds more than the {self._limit} bytes that were expected")
            if hashed:
                hashed.update(block)
            written = os.write(descriptor, block)
            while written < length:
                written += os.write(descriptor, memoryview(block)[written:])
        return size

    def _keep(self, file: StoredFile) -> StoredFile:
        if file.mode & _SET_ID_BITS:
            raise self.unsafe(f"{file.path} has a set-user-ID or set-group-ID bit")
        self._files[file.path] = file
        return file

    def _claim(self, name: str) -> str:
        self._count()
        path = clean_path(name, self._archive)
        if path in self._folders:
            raise self.unsafe(f"{path or name} is a folder and a file")
        if path in self._files:
            raise self.unsafe(f"{path} is in it twice")
        self._make_folder(path.rpartition("/")[0])
        return path

    def _make_folder(self, path: str) -> None:
        if path in self._folders:
            return
        if path in self._files:
            raise self.unsafe(f"{path} is a folder and a file")
        self._make_folder(path.rpartition("/")[0])
        place = f"{self.root}/{path}"
        os.mkdir(place)  # noqa: PTH102
        os.chmod(place, 0o755)  # noqa: PTH101, S103 - the umask must not keep others out
        self._folders.add(path)

    def _count(self) -> None:
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise self.unsafe(f"it has more than {MAX_MEMBERS} members")
