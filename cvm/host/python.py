"""The Python that a person would start here, and whether it brings CUDA libraries of its own."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from cvm.host.pyenv import behind_shim

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PATIENCE = 5  # seconds for a wrapper such as pyenv's to say what it starts

# In a folder of packages: NVIDIA's wheels, and a torch that is built for CUDA.
_CUDA_LIBRARIES = ("nvidia/*/lib/lib*.so*", "torch/lib/libtorch_cuda.so")


def active_python(environment: Mapping[str, str]) -> Path | None:
    """Return the first `python3` or `python` on PATH, or None."""
    path = environment.get("PATH", "")
    found = which("python3", path=path) or which("python", path=path)
    return Path(found).absolute() if found else None


def bundled_cuda(python: Path, environment: Mapping[str, str]) -> Path | None:
    """Return a CUDA library that came with the packages of a Python, or None where none did.

    Nothing is imported: the folders in which that Python looks for packages are searched. Packages
    that a `.pth` file brings in are not seen.
    """
    for folder in _package_folders(python, environment):
        for pattern in _CUDA_LIBRARIES:
            found = next(folder.glob(pattern), None)
            if found is not None:
                return found
    return None


def _package_folders(python: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(entry) for entry in environment.get("PYTHONPATH", "").split(":") if entry)
    binary = _behind_wrapper(python, environment)
    prefix = binary.parent.parent
    settings = _venv_settings(prefix)
    if settings is not None:
        yield from _in_prefix(prefix, "python3*")
        if "include-system-site-packages = true" not in settings:
            return
    real = binary.resolve()
    version = real.name if real.name.startswith("python3.") else "python3*"
    if not environment.get("PYTHONNOUSERSITE"):
        user = environment.get("PYTHONUSERBASE") or os.path.join(environment.get("HOME", "/"), ".local")  # noqa: PTH118
        yield from _in_prefix(Path(user), version)
    yield from _in_prefix(real.parent.parent, version)


def _in_prefix(prefix: Path, version: str) -> Iterator[Path]:
    # Debian's Python looks in /usr/local, and in a folder for all versions.
    for pattern in (f"lib/{version}/site-packages", f"lib64/{version}/site-packages", "lib/python3/dist-packages"):
        yield from prefix.glob(pattern)
    yield from (prefix / "local" / "lib").glob(f"{version}/dist-packages")


def _venv_settings(prefix: Path) -> str | None:
    try:
        return (prefix / "pyvenv.cfg").read_text(errors="replace").lower()
    except OSError:
        return None


def _behind_wrapper(python: Path, environment: Mapping[str, str]) -> Path:
    """Return the program that a wrapper such as a shim of pyenv's or mise's starts; itself when it won't tell."""
    if _is_interpreter(python):
        return python
    return behind_shim(python, environment) or _asked(python, environment) or python


def _is_interpreter(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            script = stream.read(2) == b"#!"
    except OSError:
        return True
    # mise and others are one program under many names.
    return not script and path.resolve().name.startswith(("python", "pypy"))


def _asked(wrapper: Path, environment: Mapping[str, str]) -> Path | None:
    import subprocess

    question = [str(wrapper), "-S", "-c", "import sys; print(sys.executable)"]
    try:
        done = subprocess.run(question, env=dict(environment), capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    answer = os.fsdecode(done.stdout.strip())
    return Path(answer) if done.returncode == 0 and answer.startswith("/") else None
