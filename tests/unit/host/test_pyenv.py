from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from cvm.host.pyenv import behind_shim

if TYPE_CHECKING:
    from pathlib import Path

PYENV = shutil.which("pyenv")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pyenv with two versions, and an interpreter of the system's behind it on PATH."""
    for folder in ("root/versions/3.11.7/bin", "root/versions/3.12.1/bin", "root/shims", "system", "work/below"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("root/versions/3.11.7/bin", "root/versions/3.12.1/bin", "root/shims", "system"):
        (tmp_path / folder / "python3").write_text("#!/bin/sh\n")
        (tmp_path / folder / "python3").chmod(0o755)
    monkeypatch.chdir(tmp_path / "work/below")
    return tmp_path / "root"


def found(root: Path, **environment: str) -> str | None:
    path = behind_shim(root / "shims/python3", {"PATH": f"{root}/shims::{root.parent}/system", **environment})
    return None if path is None else str(path.relative_to(root.parent))


def test_the_variable_comes_first_then_the_nearest_file_then_the_default(root: Path) -> None:
    assert found(root) == "system/python3"
    (root / "version").write_text("3.11.7\n")
    assert found(root) == "root/versions/3.11.7/bin/python3"
    (root.parent / "work/.python-version").write_text("# ours\n3.12.1 3.11.7\n")
    assert found(root) == "root/versions/3.12.1/bin/python3"
    assert found(root, PYENV_VERSION="3.11.7:3.12.1") == "root/versions/3.11.7/bin/python3"
    assert found(root, PYENV_VERSION="system") == "system/python3"


def test_what_is_not_plain_is_left_to_pyenv(root: Path) -> None:
    assert found(root, PYENV_VERSION="3.11") is None
    assert behind_shim(root.parent / "system/python3", {}) is None


@pytest.mark.skipif(PYENV is None, reason="no pyenv")
@pytest.mark.parametrize("version", [None, "3.12.1", "3.11.7", "system"])
def test_pyenv_itself_says_the_same(root: Path, version: str | None) -> None:
    (root / "version").write_text("3.11.7\n")
    environment = {"PATH": f"{root}/shims:{root.parent}/system:/usr/bin:/bin", "PYENV_ROOT": str(root)}
    environment |= {"PYENV_VERSION": version} if version else {}
    said = subprocess.run([PYENV, "which", "python3"], env={**os.environ, **environment}, capture_output=True, text=True, check=True)  # type: ignore[list-item]  # fmt: skip
    assert str(behind_shim(root / "shims/python3", environment)) == said.stdout.strip()
