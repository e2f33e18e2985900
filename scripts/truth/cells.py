"""The values of LD_LIBRARY_PATH to compare with, and the toolchains that they lead to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOOLKITS = ("11.8", "12.1", "12.4", "12.8", "13.0")
# A folder's name, the toolkit that cuDNN is installed for, and its version as `--with-cudnn` takes it.
CUDNNS = (("8.9", "12.4", "8.9"), ("9.1", "12.4", "9.1"), ("newest", "12.8", "auto"))


@dataclass(frozen=True)
class Cell:
    """A column of the matrix: its name, and the folders that LD_LIBRARY_PATH has."""

    name: str
    folders: tuple[str, ...] = ()

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables of a person who has set nothing else; both sides get the same."""
        path = {"LD_LIBRARY_PATH": ":".join(self.folders)} if self.folders else {}
        return {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8", **path}


def cells(work: Path) -> list[Cell]:
    """Return the columns; installs the toolchains into a home of cvm in the work folder, where they aren't yet."""
    home = Home(work / "cvm")
    toolkits = {version: home.install(version, "--profile", "runtime") / "lib64" for version in TOOLKITS}
    cudnns = {}
    for name, toolkit, version in CUDNNS:
        prefix = home.install(toolkit, "--component", "cuda_cudart", "--with-cudnn", version)
        cudnns[f"cudnn-{name}"] = only_cudnn(prefix / "lib64", work / "cudnn" / name)
    return [Cell("nothing"), *(Cell(name, (str(folder),)) for name, folder in {**toolkits, **cudnns}.items())]


@dataclass(frozen=True)
class Home:
    """A home of cvm's for this program alone."""

    path: Path

    def install(self, *words: str) -> Path:
        """Install a toolchain from the package index, unless it is there, and return its folder."""
        plan = self._cvm("install", *words, "--source", "pypi", "--dry-run", "--json")
        prefix = Path(json.loads(plan)["toolchains"][0]["prefix"])
        if not prefix.exists():
            self._cvm("install", *words, "--source", "pypi")
        return prefix

    def _cvm(self, *words: str) -> str:
        own = {name: value for name, value in os.environ.items() if not name.startswith("CVM_")}
        argv = [sys.executable, "-m", "cvm", "--quiet", *words]
        done = subprocess.run(
            argv, env={**own, "CVM_HOME": str(self.path)}, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"error: cvm {' '.join(words)} ended with {done.returncode}")
        return done.stdout


def only_cudnn(libraries: Path, folder: Path) -> Path:
    """Put the cuDNN of a toolchain into a folder of its own, as people do who unpack NVIDIA's archive of it."""
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        part.mkdir(parents=True, exist_ok=True)
        for file in sorted(libraries.glob("libcudnn*.so*")):
            _link(file.resolve(), part / file.name)
        part.rename(folder)
    return folder


def _link(file: Path, name: Path) -> None:
    """Hard links, not symbolic ones: /proc/self/maps then names the file in the new folder."""
    name.unlink(missing_ok=True)
    os.link(file, name)


def chosen(columns: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """Return the columns of these names, all of them where none is named; raises SystemExit."""
    unknown = set(names) - {cell.name for cell in columns}
    if unknown:
        raise SystemExit(f"error: no column {', '.join(sorted(unknown))}: {', '.join(cell.name for cell in columns)}")
    return [cell for cell in columns if not names or cell.name in names]
