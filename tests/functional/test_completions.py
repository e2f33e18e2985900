"""The completion files, run in the shells that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPLETIONS = Path(__file__).parents[2] / "completions"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A PATH on which `cvm` is this checkout's."""
    launcher = tmp_path / "bin" / "cvm"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cvm "$@"\n')
    launcher.chmod(0o755)
    path = f"{launcher.parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(COMPLETIONS.parent)}


def complete_in_bash(environment: dict[str, str], *words: str) -> list[str]:
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        . {COMPLETIONS / "cvm.bash"}
        COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
        _cvm_completion cvm
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_and_options(environment: dict[str, str]) -> None:
    assert complete_in_bash(environment, "cvm", "un") == ["uninstall"]
    assert complete_in_bash(environment, "cvm", "list") == ["list", "list-remote"]
    assert complete_in_bash(environment, "cvm", "install", "--with-") == ["--with-cudnn", "--with-nccl"]
    assert complete_in_bash(environment, "cvm", "install", "--profile", "r") == ["runtime"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_completes_commands(environment: dict[str, str]) -> None:
    script = f"source {COMPLETIONS / 'cvm.fish'}; complete -C 'cvm un'"
    done = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "uninstall"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_can_read_its_file() -> None:
    subprocess.run(["zsh", "-n", str(COMPLETIONS / "_cvm")], check=True)
