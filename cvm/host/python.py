"""The Python that a person would start here, and what hides behind its name."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from cvm.host.pyenv import behind_shim

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATIENCE = 5  # seconds for a wrapper such as pyenv's to say what it starts
_LONGEST = 64 << 10  # bytes of that


def active_python(environment: Mapping[str, str]) -> Path | None:
    """Return the first `python3` or `python` on PATH, or None."""
    path = environment.get("PATH", "")
    found = which("python3", path=path) or which("python", path=path)
    return Path(found).absolute() if found else None


def behind_wrapper(python: Path, environment: Mapping[str, str], folder: Path | None = None) -> Path:
    """Return the program that a wrapper such as a shim of pyenv's or mise's starts; itself when it won't tell.

    `folder` is where it would be started, by default the current one.
    """
    if _is_interpreter(python):
        return python
    return behind_shim(python, environment, folder) or _asked(python, environment, folder) or python


def _is_interpreter(path: Path) -> bool:
    """Whether a path leads to a Python itself, not to a script or to a program of another name that starts one."""
    try:
        # A pipe by that name would be waited for.
        if not path.is_file():
            return True
        with path.open("rb") as stream:
            script = stream.read(2) == b"#!"
    except OSError:
        return True
    # mise and others are one program under many names.
    return not script and path.resolve().name.startswith(("python", "pypy"))


def _asked(wrapper: Path, environment: Mapping[str, str], folder: Path | None) -> Path | None:
    from subprocess import DEVNULL, PIPE, Popen
    from threading import Timer

    question = [str(wrapper), "-S", "-c", "import sys; print(sys.executable)"]
    try:
        asked = Popen(question, env=dict(environment), cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)
    except (OSError, ValueError):
        return None
    with asked:
        patience = Timer(_PATIENCE, asked.kill)
        patience.start()
        # One that talks without end is heard this long.
        told = asked.stdout.read(_LONGEST) if asked.stdout else b""
        if len(told) == _LONGEST:
            asked.kill()
        code = asked.wait()
        patience.cancel()
    answer = os.fsdecode(told.strip())
    return Path(answer) if code == 0 and answer.startswith("/") else None
