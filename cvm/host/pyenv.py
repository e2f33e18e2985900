"""Which interpreter a shim of pyenv's starts, read from the files that pyenv reads: asking it takes 60 ms."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def behind_shim(shim: Path, environment: Mapping[str, str], folder: Path | None = None) -> Path | None:
    """Return the interpreter behind `…/shims/python3`; None for what is no such shim, or isn't plain.

    `folder` is where it would be started, by default the current one.

    https://github.com/pyenv/pyenv#understanding-python-version-selection: PYENV_VERSION, the nearest
    `.python-version`, the file `version` in pyenv's root, else the system's.
    """
    root = shim.parent.parent
    if shim.parent.name != "shims" or not (root / "versions").is_dir():
        return None
    name = _selected(root, environment, folder)
    if name == "system":
        others = [folder for folder in environment.get("PATH", "").split(":") if folder and Path(folder) != shim.parent]
        found = which(shim.name, path=":".join(others))
        return Path(found) if found else None
    interpreter = root / "versions" / name / "bin" / shim.name
    # A name such as 3.11 may stand for a 3.11.9: that is pyenv's to decide.
    return interpreter if interpreter.is_file() else None


def _selected(root: Path, environment: Mapping[str, str], folder: Path | None) -> str:
    names = environment.get("PYENV_VERSION", "").split(":")
    files = [*_upwards(folder), root / "version"]
    while not names[0] and files:
        names = _words(files.pop(0))
    return names[0] or "system"


def _upwards(folder: Path | None) -> list[Path]:
    try:
        here = folder or Path.cwd()
    except OSError:
        return []
    return [each / ".python-version" for each in (here, *here.parents)]


def _words(path: Path) -> list[str]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return [""]
    return [word for line in lines for word in line.partition("#")[0].split()] or [""]
