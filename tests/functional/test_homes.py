"""Homes of others, homes with odd names, and users without one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.functional.outcomes import complaint
from tests.functional.processes import ROOT, assert_nothing_half, run
from tests.functional.releases import moved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.functional.conftest import World

NOBODY = 65534


@contextmanager
def nobody() -> Iterator[None]:
    """Be another user for a while."""
    if os.geteuid():
        pytest.skip("needs root, to be another user")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_home_of_somebody_else(world: World) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        theirs = moved(world, Path(folder) / "home")
        theirs.ok("install", "99.1")
        with nobody():
            assert theirs.ok("list").out.startswith("99.1.1 ")
            assert theirs.run("verify").code == 0
            outcomes = [
                theirs.run("install", "99.10", "--source", "redist"),
                theirs.run("uninstall", "99.1"),
                theirs.run("prune"),
            ]
        for outcome in outcomes:
            assert (outcome.code, complaint(outcome)) == (
                8,
                (
                    "$CVM_HOME/locks/install.lock can't be written: permission denied",
                    "set CVM_HOME to a folder that is yours",
                ),
            )
        assert_nothing_half(theirs, "99.1.1")


def test_a_home_that_nobody_may_look_into(world: World) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        theirs = moved(world, Path(folder) / "home")
        theirs.ok("install", "99.1")
        with nobody():
            outcome = theirs.run("install", "99.1")
            assert "Traceback" not in outcome.err
            assert outcome.code


def test_a_home_that_is_a_file(world: World, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    world.monkeypatch.setenv("CVM_HOME", str(file))
    assert replace(world, home=file).ok("list").out == ""
    for arguments in (["install", "12.1", "--source", "redist"], ["prune"]):
        outcome = replace(world, home=file).run(*arguments)
        assert (outcome.code, complaint(outcome)) == (
            8,
            ("$CVM_HOME/locks can't be made: a file is in the way", "set CVM_HOME to a folder"),
        )
    assert file.read_text() == ""


@pytest.mark.parametrize("name", ["a b", "it's", 'say "hi"', "two\nlines", "ünï", "$HOME `id` \\", "-rf"])
def test_a_home_may_be_called_anything(world: World, tmp_path: Path, name: str) -> None:
    world = moved(world, tmp_path / name)
    world.ok("install", "99.1")
    assert_nothing_half(world, "99.1.1")
    told = subprocess.run([world.toolchain("99.1.1") / "bin" / "nvcc"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("Cuda compilation tools, release 99.1")
    world.ok("uninstall", "99.1")
    assert_nothing_half(world)


def test_whatever_the_umask_others_may_use_a_toolchain(world: World) -> None:
    before = os.umask(0o077)
    try:
        world.ok("install", "99.1")
    finally:
        os.umask(before)
    for root in (world.home / "toolchains", world.home / "store"):
        for path in (root, *root.rglob("*")):
            mode = path.lstat().st_mode & 0o777
            assert path.is_symlink() or mode in ({0o755} if path.is_dir() else {0o444, 0o555, 0o644}), path


def test_without_a_home_folder_cvm_home_is_enough(world: World) -> None:
    code, out, err = run("install", "99.1", env={"HOME": None, "USER": None, "LOGNAME": None})
    assert (code, out) == (0, f"installed 99.1.1 at {world.home}/toolchains/99.1.1\n"), err


def test_without_any_environment() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cvm", "cache", "dir"], check=False, env={}, cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("/.local/share/cvm/cache\n")


NO_HOME = "import pwd\ndef unknown(_): raise KeyError\npwd.getpwuid = unknown"


def test_a_user_without_a_home_folder_is_told_what_to_set() -> None:
    code, _, err = run("list", script=NO_HOME, env={"HOME": None})
    assert (code, err) == (
        2,
        "error: HOME is not set, and this user has no home folder\nhint: set CVM_HOME to a folder\n",
    )
    code, _, err = run("list", env={"CVM_HOME": "~nobody-of-that-name/cvm"})
    assert (code, err.splitlines()[0]) == (
        2,
        "error: CVM_HOME is ~nobody-of-that-name/cvm, whose home folder is not known",
    )
