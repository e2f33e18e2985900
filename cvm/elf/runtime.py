"""What glibc's loader of one machine or image knows beforehand: its machine, folders, capabilities and cache."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.elf.cache import PATH as CACHE
from cvm.elf.cache import Cache, parse_cache
from cvm.elf.error import ElfError
from cvm.elf.layout import AARCH64, X86_64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.elf.elf import Elf
    from cvm.elf.files import Files

NEWEST = (2, 40)

# glibc-hwcaps came with 2.33; the older folders went with 2.37; libraries are sorted by depth first since 2.35.
_HWCAPS, _NO_LEGACY, DEPTH_FIRST = (2, 33), (2, 37), (2, 35)

_FOLDERS = re.compile(rb"\0((?:/[a-z0-9_./+-]*lib[a-z0-9_./+-]*/\0){2,})")
_RELEASE = re.compile(rb"stable release version ([0-9]+)\.([0-9]+)")
_OLD_NAME = re.compile(r"ld-([0-9]+)\.([0-9]+)\.so$")
_USUAL = ("/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/")
_PRELOAD = "/etc/ld.so.preload"


class Runtime(NamedTuple):
    """The loader's own knowledge; folders end in a slash, `subfolders` are tried in each, the plain one last."""

    machine: int
    bits: int
    little: bool
    folders: tuple[str, ...]
    library: str
    platform: str
    subfolders: tuple[str, ...]
    cache: Cache | None
    glibc: tuple[int, int]
    preload: tuple[str, ...]

    @property
    def hwcaps(self) -> tuple[str, ...]:
        """The glibc-hwcaps folders of this processor, the best first."""
        return tuple(name.split("/")[1] for name in self.subfolders if name.startswith("glibc-hwcaps/"))


class Processor(NamedTuple):
    """What the processor lends to the search: its x86-64 level (1 to 4), and AT_PLATFORM as glibc sees it.

    `legacy` are the folder names of glibc before 2.37, the outermost first; None derives them from the level.
    """

    level: int = 1
    platform: str | None = None
    legacy: tuple[str, ...] | None = None


def read_runtime(files: Files, interpreter: str, processor: Processor, glibc: tuple[int, int] | None = None) -> Runtime:
    """Learn from the loader that a program names, and from the cache beside it; raises OSError, ElfError."""
    loader = files.elf(interpreter)
    image = loader.image
    folders = _folders(loader)
    release = glibc or _release(files, loader, interpreter)
    return Runtime(
        image.machine,
        image.layout.bits,
        image.layout.little,
        folders,
        folders[0].strip("/"),
        _platform(image.machine, processor),
        _subfolders(image.machine, processor, release),
        _cache(files),
        release,
        _preload(files),
    )


def _folders(loader: Elf) -> tuple[str, ...]:
    """Return the default folders, which stand in the loader one behind the other."""
    found = _FOLDERS.search(loader.data)
    if found is None:
        return _USUAL
    return tuple(os.fsdecode(name) for name in found[1].split(b"\0") if name)


def _release(files: Files, loader: Elf, interpreter: str) -> tuple[int, int]:
    found = _RELEASE.search(loader.data)
    if found:
        return int(found[1]), int(found[2])
    # Before 2.34 the loader's file carried the release in its name.
    named = _OLD_NAME.search(files.real(interpreter))
    return (int(named[1]), int(named[2])) if named else NEWEST


def _platform(machine: int, processor: Processor) -> str:
    if processor.platform is not None:
        return processor.platform
    if machine == X86_64:
        return "haswell" if processor.level >= 3 else "x86_64"
    return "aarch64" if machine == AARCH64 else ""


def _subfolders(machine: int, processor: Processor, glibc: tuple[int, int]) -> tuple[str, ...]:
    names: list[str] = []
    if glibc >= _HWCAPS and machine == X86_64:
        names += [f"glibc-hwcaps/x86-64-v{level}/" for level in range(processor.level, 1, -1)]
    if glibc < _NO_LEGACY:
        names += _combined(_legacy(machine, processor))
    return (*names, "")


def _legacy(machine: int, processor: Processor) -> Sequence[str]:
    if processor.legacy is not None:
        return processor.legacy
    if machine != X86_64:
        return ("tls", _platform(machine, processor))
    return ("tls", _platform(machine, processor), *(("avx512_1",) if processor.level >= 4 else ()), "x86_64")


def _combined(names: Sequence[str]) -> list[str]:
    """Return every choice of names as a folder in a folder, the longest with the first names in front."""
    distinct = list(dict.fromkeys(name for name in names if name))
    choices = [
        [name for place, name in enumerate(distinct) if mask >> (len(distinct) - 1 - place) & 1]
        for mask in range((1 << len(distinct)) - 1, 0, -1)
    ]
    return ["/".join(choice) + "/" for choice in choices]


def _cache(files: Files) -> Cache | None:
    """Return ldconfig's cache; like the loader, take a damaged one for none."""
    try:
        return parse_cache(files.content(CACHE))
    except (OSError, ElfError):
        return None


def _preload(files: Files) -> tuple[str, ...]:
    try:
        text = os.fsdecode(files.content(_PRELOAD))
    except OSError:
        return ()
    lines = (line.partition("#")[0] for line in text.splitlines())
    return tuple(name for line in lines for name in line.replace(":", " ").split())
