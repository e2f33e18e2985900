"""The short way and the long way say the same, to the byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.toolkit import merged, write_tree
from tests.functional import processes

if TYPE_CHECKING:
    from tests.functional.conftest import World

# Taking the short way away: what is left is the whole program.
LONG = "import cvm.cli.quick as quick; quick.answered = lambda arguments: False"
# Making the long way fail: what is answered is answered by the short one.
SHORT = "import sys; sys.modules['click'] = None"


@pytest.fixture
def ready(world: World, tmp_path: Path) -> World:
    world.ok("install", "99.1", "99.10")
    world.ok("link", "site", write_tree(merged("99.1.1"), tmp_path / "site tree"))
    world.monkeypatch.setenv("PATH", "/usr/bin:/bin")
    world.monkeypatch.chdir(tmp_path)
    world.monkeypatch.setenv("PWD", str(tmp_path))
    world.monkeypatch.setenv("_CVM_SHELL", "bash")
    return world


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["current"], ["use", "99.1"], ["use", "-"], ["use", "system"], ["use", "--auto"], ["unuse"]],
    ids=" ".join,
)
def test_both_ways_agree_and_the_short_one_needs_no_click(ready: World, arguments: list[str]) -> None:
    Path(".cuda-version").write_text("99.10\n")
    environment = {"CVM_HOME": str(ready.home), "CVM_TOOLCHAIN": "site" if "-" in arguments else None}
    long = processes.run(*arguments, script=LONG, env=environment)
    assert processes.run(*arguments, script=SHORT, env=environment) == long
    assert long[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["use", "98"],
        ["use", "-"],
        ["use"],
        ["use", "--help"],
        ["use", "99.1", "--json"],
        ["current", "-x"],
        ["current"],
        [],
    ],
    ids=" ".join,
)
def test_whatever_else_is_told_by_the_whole_program(ready: World, arguments: list[str]) -> None:
    environment = {"CVM_HOME": str(ready.home)}
    assert processes.run(*arguments, env=environment) == processes.run(*arguments, script=LONG, env=environment)


def test_a_closed_stdout_is_told_once(ready: World) -> None:
    ready.ok("global", "99.1")
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m cvm current >/dev/full"],
        env=processes.environment({"CVM_HOME": str(ready.home)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("error:")) == (8, 1)


def test_a_closed_stderr_keeps_code_and_talk_apart(ready: World) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m cvm use 99.1 2>&-"],
        env=processes.environment({"CVM_HOME": str(ready.home)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert all(line.startswith(("export ", "unset ")) for line in done.stdout.splitlines())


def test_a_version_that_cannot_be_written_is_told(ready: World) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m cvm --version >/dev/full"],
        env=processes.environment({"CVM_HOME": str(ready.home)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.startswith("error:")) == (8, True)


def test_an_integration_takes_no_module_of_a_folder(ready: World, tmp_path: Path) -> None:
    (tmp_path / "cvm.py").write_text("raise SystemExit('this is not cvm')")
    text = ready.ok("init", "sh").out.replace("$CVM_HOME", str(ready.home))
    done = subprocess.run(
        ["sh", "-euc", f"{text}\ncvm --version"],
        env=processes.environment({"CVM_HOME": str(ready.home)}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout[:4]) == (0, "cvm "), done
