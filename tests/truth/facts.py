"""The committed facts about real libraries, as values."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE = Path(__file__).with_name("facts.toml")
_WITHOUT_VERSIONS = re.compile(r"_C$|lib(torch|c10|shm|gomp)")


class Needed(NamedTuple):
    """A DT_NEEDED, with the symbols that are wanted from there."""

    name: str
    symbols: tuple[str, ...]


class Library(NamedTuple):
    """What `facts.toml` says of one file; `soname` and `node` may be nothing."""

    path: str
    soname: str
    node: str
    runpath: str | None
    defines: tuple[str, ...]
    needs: tuple[Needed, ...]
    names: tuple[str, ...]
    opens: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]


class Torch(NamedTuple):
    """A release of PyTorch, with the files of the wheels that it requires; `requires` are names with versions."""

    version: str
    cuda: str
    cudnn: tuple[int, int, int]
    requires: tuple[tuple[str, str], ...]
    rpath: str
    libraries: tuple[Library, ...]


def torch(version: str) -> Torch:
    """Return a release, without its cuDNN."""
    facts = _facts()[f"torch {version}"]
    requires = tuple(tuple(line.split()) for line in facts["requires"])
    rpath = ":".join(facts["rpath"])
    return Torch(version, facts["cuda"], tuple(facts["cudnn"]), requires, rpath, _libraries(facts["files"]))


def toolkit(version: str) -> tuple[Library, ...]:
    """Return the libraries of a release of CUDA."""
    return _libraries(_facts()[f"toolkit {version}"]["files"])


def cudnn(major: int) -> tuple[Library, ...]:
    """Return the libraries of a cuDNN."""
    return _libraries(_facts()[f"cudnn {major}"]["files"])


def _facts():
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


def _libraries(files) -> tuple[Library, ...]:
    return tuple(_library(path, facts) for path, facts in files.items())


def _library(path, facts) -> Library:
    name = path.rpartition("/")[2]
    soname = facts.get("soname", name if ".so" in name else "")
    node = facts.get("node", "" if _WITHOUT_VERSIONS.match(name) else soname)
    lists = [tuple(facts.get(key, ())) for key in ("defines", "needs", "names", "opens")]
    lists[1] = tuple(_needed(text) for text in lists[1])
    return Library(path, soname, node, facts.get("runpath"), *lists)


def _needed(text) -> Needed:
    name, _, symbols = text.partition(": ")
    return Needed(name, tuple(symbols.split()))
