"""Disks, folders, users, locales and streams that get in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.archives import redist_archive
from tests.fakes.disks import mounted
from tests.fakes.disks import read_only_disk as read_only_disk  # noqa: PLC0414 - a fixture
from tests.functional.processes import ROOT, assert_nothing_half, command, environment, run
from tests.functional.releases import describe, served
from tests.functional.test_failures import complaint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.functional.conftest import World

HINT = "cvm prune, or set CVM_HOME to a larger disk"
NOBODY = 65534


def moved(world: World, home: Path) -> World:
    """The same world with its home elsewhere, and with the manifests that are known."""
    if (world.home / "manifests").exists():
        shutil.copytree(world.home / "manifests", home / "manifests")
    world.monkeypatch.setenv("CVM_HOME", str(home))
    return replace(world, home=home)


@pytest.fixture
def small_world(world: World, tmp_path: Path) -> Iterator[World]:
    """A home on a disk of two megabytes."""
    with mounted(tmp_path / "small", "size=2m") as disk:
        yield moved(world, disk / "home")


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


def larger(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=40m", str(disk)], check=True)


def test_a_disk_that_is_too_small_is_told_before_the_first_byte(small_world: World, tmp_path: Path) -> None:
    world = small_world
    made = redist_archive("cuda_cudart", "99.4.0", {"include/cuda.h": b"#define CUDA_VERSION 99040\n"})
    archive = served(world, tmp_path / "served", made.name, made.data, unpacked=12_000_000)
    describe(world, "99.4.0", ("cuda_cudart", archive))
    outcome = world.run("install", "99.4", "--source", "redist")
    assert outcome.code == 8
    sentence, hint = complaint(outcome)
    assert sentence.startswith("12.0 MB are needed in $CVM_HOME and ")
    assert sentence.endswith(" MB are missing")
    assert hint == HINT
    assert world.server.requests == []
    assert_nothing_half(world)
    larger(tmp_path / "small")
    world.ok("install", "99.4")


def test_a_disk_that_fills_up_while_unpacking(small_world: World, tmp_path: Path) -> None:
    world = small_world
    files = {"include/cuda.h": b"#define CUDA_VERSION 99040\n", "lib/libbig.a": bytes(5_000_000)}
    made = redist_archive("cuda_cudart", "99.4.0", files)
    describe(world, "99.4.0", ("cuda_cudart", served(world, tmp_path / "served", made.name, made.data)))
    outcome = world.run("install", "99.4", "--source", "redist")
    assert outcome.code == 8
    assert complaint(outcome) == (f"no space is left on $CVM_HOME/store while unpacking {made.name}", HINT)
    assert_nothing_half(world)
    larger(tmp_path / "small")
    world.ok("install", "99.4")
    assert_nothing_half(world, "99.4.0")


def test_a_full_disk_can_be_read_and_pruned(small_world: World, tmp_path: Path) -> None:
    world = small_world
    world.ok("install", "99.1.0", "99.1.1")
    filler = tmp_path / "small" / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(bytes(3_000_000))
    outcome = world.run("install", "99.10")
    assert outcome.code == 8
    assert complaint(outcome)[1] == HINT
    assert_nothing_half(world, "99.1.0", "99.1.1")
    world.ok("prune")
    world.ok("uninstall", "99.1.0")
    assert_nothing_half(world, "99.1.1")


def test_a_read_only_home_serves_what_is_in_it(world: World, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=20m") as disk:
        world = moved(world, disk / "home")
        world.ok("install", "99.1")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert_nothing_half(world, "99.1.1")
        for arguments in (["install", "99.10"], ["uninstall", "99.1"], ["prune"], ["manifest", "refresh", "--force"]):
            outcome = world.run(*arguments)
            assert outcome.code == 8, arguments
            sentence, hint = complaint(outcome)
            assert sentence.startswith("$CVM_HOME/")
            assert sentence.endswith(" can't be written: read-only file system")
            assert hint == "set CVM_HOME to a folder that is yours"
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        world.ok("install", "99.10")


def test_an_empty_read_only_home(bare_world: World, read_only_disk: Path) -> None:
    world = moved(bare_world, read_only_disk / "home")
    world.ok("list")
    outcome = world.run("install", "12.1", "--source", "redist")
    assert (outcome.code, complaint(outcome)[0]) == (8, "$CVM_HOME can't be written: read-only file system")


def test_a_home_of_somebody_else(world: World) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        theirs = moved(world, Path(folder) / "home")
        theirs.ok("install", "99.1")
        with nobody():
            assert theirs.ok("list").out.startswith("99.1.1 ")
            assert theirs.run("verify").code == 0
            outcomes = [theirs.run("install", "99.10"), theirs.run("uninstall", "99.1"), theirs.run("prune")]
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


LOCALES = {
    "C": {"LC_ALL": "C"},
    "no UTF-8 at all": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII output": {"PYTHONIOENCODING": "ascii"},
}


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", ["ünï", os.fsdecode(b"\xff")])
def test_paths_come_out_as_they_are_in_any_locale(world: World, tmp_path: Path, locale: str, name: str) -> None:
    home = moved(world, tmp_path / name).home
    code, out, err = run("install", "99.1", env=LOCALES[locale])
    assert (code, out) == (0, f"installed 99.1.1 at {home}/toolchains/99.1.1\n"), err
    assert run("list", env=LOCALES[locale])[1] == f"99.1.1  {home}/toolchains/99.1.1\n"


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
    done = subprocess.run([sys.executable, "-m", "cvm", "cache", "dir"], env={}, cwd=ROOT, capture_output=True, text=True)
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


def test_the_cache_may_be_on_another_disk(world: World) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as cache:
        world.monkeypatch.setenv("CVM_CACHE_DIR", cache)
        world.ok("install", "99.1")
        assert list(Path(cache).iterdir()) == []
    assert_nothing_half(world, "99.1.1")


def shell(line: str, *arguments: str) -> tuple[int, str]:
    """Run a command in a shell that does something to its streams: `"$@"` stands for the command."""
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command(*arguments)], env=environment(), capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_an_answer_that_nobody_reads_is_no_failure(world: World) -> None:
    code, said = shell('{ "$@"; echo $? >&2; } | { exec <&-; sleep 1; }', "list-remote", "--json")
    assert (code, said) == (0, "0\n")
    code, said = shell('"$@" | head -n 1', "list-remote")
    assert (code, said.splitlines()[0].split()[0]) == (0, "11.4.2")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing(world: World, closed: str) -> None:
    assert shell(f'"$@" {closed}', "install", "99.1")[0] == 0
    assert_nothing_half(world, "99.1.1")


def test_full_streams(world: World) -> None:
    assert shell('"$@" 2>/dev/full', "install", "99.1")[0] == 0
    assert shell('"$@" >/dev/full', "list") == (
        8,
        "error: stdout can't be written: no space left on device\nhint: write it elsewhere\n",
    )
