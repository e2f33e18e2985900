"""One real `import torch`, and what `cvm doctor` says of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cvm.cli.app import main

if TYPE_CHECKING:
    import pytest

    from tests.truth.environments import Environment

# What is mapped after the import, then what the first use of cuDNN answers or ends with, and what is mapped by then.
PROGRAM = """
import json, sys
def mapped():
    with open("/proc/self/maps") as maps:
        return sorted({line.split(None, 5)[5].strip() for line in maps if "/" in line})
import torch
imported = mapped()
import torch.backends.cudnn
version = error = None
try:
    version = torch.backends.cudnn.version()
except Exception as failed:
    error = f"{type(failed).__name__}: {failed}"
json.dump({"imported": imported, "used": mapped(), "version": version, "error": error}, sys.stdout)
"""


class Reality(NamedTuple):
    """The last line of a failed import, else the files of the test that are mapped after it, and the first use."""

    error: str | None
    imported: frozenset[Path] = frozenset()
    used: frozenset[Path] = frozenset()
    first_use_error: str | None = None
    cudnn: str | None = None


def really(environment: Environment, root: Path, path: str | None) -> Reality:
    """Import torch in a process of its own."""
    done = subprocess.run(
        [str(environment.python), "-c", PROGRAM],
        env=_variables(environment, path),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return Reality(done.stderr.rstrip().rpartition("\n")[2])
    told = json.loads(done.stdout)
    imported, used = (below(root, told[name]) for name in ("imported", "used"))
    version = told["version"] and ".".join(map(str, told["version"]))
    return Reality(None, imported, used, told["error"], version)


def said(
    environment: Environment, path: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict:
    """Return the document of `cvm doctor`, run in this process with the same variables."""
    with monkeypatch.context() as patch:
        for name, value in _variables(environment, path).items():
            patch.setenv(name, value)
        capsys.readouterr()
        main(["doctor", str(environment.python), "--json", "--fail-on", "never"])
    return json.loads(capsys.readouterr().out)


def below(root: Path, paths) -> frozenset[Path]:
    """Return the real files among paths that belong to the test."""
    real = (Path(os.path.realpath(path)) for path in paths)
    return frozenset(path for path in real if path.is_relative_to(root) and ".so" in path.name)


def _variables(environment: Environment, path: str | None) -> dict[str, str]:
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONDONTWRITEBYTECODE": "1"}
    return {**variables, **environment.variables, **({} if path is None else {"LD_LIBRARY_PATH": path})}
