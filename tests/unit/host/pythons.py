"""The Pythons of this machine, which judge what cvm reads of them."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_FACTS = """
import json, sys
print(json.dumps([sys.executable, sys.prefix, sys.version_info[:2], sys.path[1:]]))
"""


@functools.cache
def pythons():
    """Return the interpreters of this machine, one for each real file; the one that runs the tests at least."""
    candidates = [Path(sys._base_executable)]
    for folder in map(Path, os.environ.get("PATH", "").split(":")):
        candidates += [*folder.glob("python3"), *folder.glob("python3.[0-9]*[0-9]")]
    pyenv = shutil.which("pyenv")
    if pyenv:
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False).stdout.strip()
        candidates += Path(root).glob("versions/3*/bin/python3")
    # A virtual environment of the person's is no installation; a shim is no interpreter.
    found = {path.resolve(): path for path in reversed(candidates) if _is_installed(path)}
    return sorted(map(str, found.values()))


def _is_installed(path):
    try:
        with path.open("rb") as stream:
            return stream.read(4) == b"\x7fELF" and not (path.parent.parent / "pyvenv.cfg").exists()
    except OSError:
        return False


def asked(python, variables, folder):
    """Return what an interpreter says of itself: its path, prefix, version and search path."""
    run = subprocess.run([python, "-c", _FACTS], env=variables, cwd=folder, capture_output=True, text=True, check=True)
    executable, prefix, version, path = json.loads(run.stdout)
    return executable, prefix, tuple(version), [one for one in path if not one.endswith((".zip", "/lib-dynload"))]


def make_venv(python, folder, *options):
    """Make a virtual environment without pip."""
    command = [python, "-m", "venv", "--without-pip", *options, str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named" in run.stderr:
        pytest.skip(f"{python} lacks the module venv")
    assert run.returncode == 0, run.stderr
    return str(folder / "bin/python")
