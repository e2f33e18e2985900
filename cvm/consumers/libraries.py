"""CUDA libraries on disk: their versions, builds, and where others of the same name are."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from cvm.consumers.consumer import LibraryFile
from cvm.consumers.cudnn_file import file_version
from cvm.consumers.families import family_of, stem
from cvm.consumers.owner import Owners
from cvm.elf.dynamic import SYMTAB
from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cvm.consumers.session import World
    from cvm.elf.elf import Elf
    from cvm.elf.outcome import Missing

_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+){2,})$")
_BLOCK = 64 << 10
_PT_NOTE, _BUILD_ID = 4, 3
_SYSTEM = ("/usr/local", ("lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"))


class Libraries:
    """Describes the libraries of one world; owners are looked up once."""

    def __init__(self, world: World) -> None:
        self.files = world.files
        self.owners = Owners(world)

    def describe(self, path: str) -> LibraryFile:
        """Return what is known of a library file; raises OSError where there is none."""
        elf = self.files.elf(path)
        real = self.files.real(path)
        owner = self.owners.of(path)
        version = (owner and owner.version) or self._version(path, real)
        return LibraryFile(path, real, _soname(elf), version, owner and str(owner), fingerprint(elf))

    def _version(self, path: str, real: str) -> str | None:
        named = _VERSION.search(real)
        if named:
            return named[1]
        version = file_version(self.files, path) if family_of(path) == "cudnn" else None
        return None if version is None else ".".join(map(str, version))


def describe(path: str, world: World) -> LibraryFile:
    """Return what is known of one library file; for several, keep a `Libraries`. Raises OSError."""
    return Libraries(world).describe(path)


def fingerprint(elf: Elf) -> str:
    """Return a text that is equal for copies of one build and differs between builds.

    That is the linker's build ID where the file has one: tools that set another RPATH keep it. Else a few blocks count.
    """
    try:
        build = _build_id(elf)
        start = elf.image.place(elf.tags[SYMTAB], "symbol table")[0]
    except (ElfError, KeyError):
        build, start = "", 0
    if build:
        return build
    data = elf.data
    digest = blake2b(data[:_BLOCK], digest_size=20)
    for block in (data[start : start + _BLOCK], data[-_BLOCK:]):
        digest.update(block)
    return f"{len(data)}-{digest.hexdigest()}"


def elsewhere(missing: Missing, world: World, folders: Sequence[str] = ()) -> tuple[str, ...]:
    """Return files that a missing library could have been: in the folders searched, and where nobody searched.

    In a searched folder that is another major of the library, elsewhere also the very name. The folders known are
    those of NVIDIA's wheels, of toolkits in /usr/local, and `folders`.
    """
    searched = [place.path.rstrip("/") for place in missing.places if world.files.is_folder(place.path)]
    found: dict[object, str] = {}
    wanted = missing.name.rpartition("/")[2]
    for folder in dict.fromkeys((*searched, *_known(world), *folders)):
        names = [name for name in world.files.names(folder) if stem(name) == stem(wanted)]
        for name in sorted(names, key=lambda name: (name != wanted, name.endswith(".so"), len(name), name)):
            path = f"{folder}/{name}"
            identity = world.files.identity(path)
            if not isinstance(identity, int):
                found.setdefault(identity, path)
    return tuple(sorted(found.values(), key=lambda path: not path.endswith(f"/{wanted}")))


def _known(world: World) -> Iterator[str]:
    files = world.files
    for search in world.python.search if world.python else ():
        for package in sorted(files.names(f"{search.path}/nvidia")):
            yield f"{search.path}/nvidia/{package}/lib"
    parent, below = _SYSTEM
    for name in sorted(files.names(parent)):
        if name.startswith("cuda"):
            yield from (f"{parent}/{name}/{folder}" for folder in below)


def _soname(elf: Elf) -> str | None:
    try:
        return elf.dynamic.soname if elf.dynamic else None
    except ElfError:
        return None


def _build_id(elf: Elf) -> str:
    """Return the linker's own fingerprint, which about half of NVIDIA's libraries have."""
    for part in elf.image.segments:
        if part.kind == _PT_NOTE:
            notes = bytes(elf.data[part.offset : part.offset + part.file_size])
            at = notes.find(_BUILD_ID.to_bytes(4, "little") + b"GNU\0")
            if at >= 8:
                size = int.from_bytes(notes[at - 4 : at], "little")
                return notes[at + 8 : at + 8 + min(size, 64)].hex()
    return ""
