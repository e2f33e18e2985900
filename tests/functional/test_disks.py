"""Disks that are full, fill up, or can't be written."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.archives import redist_archive
from tests.fakes.disks import mounted
from tests.fakes.disks import read_only_disk as read_only_disk  # noqa: PLC0414 - a fixture
from tests.functional.outcomes import complaint
from tests.functional.processes import assert_nothing_half
from tests.functional.releases import describe, moved, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.functional.conftest import World

HINT = "cvm prune, or set CVM_HOME to a larger disk"


@pytest.fixture
def small_world(world: World, tmp_path: Path) -> Iterator[World]:
    """A home on a disk of two megabytes."""
    with mounted(tmp_path / "small", "size=2m") as disk:
        yield moved(world, disk / "home")


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


def test_the_cache_may_be_on_another_disk(world: World) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as cache:
        world.monkeypatch.setenv("CVM_CACHE_DIR", cache)
        world.ok("install", "99.1")
        assert list(Path(cache).iterdir()) == []
    assert_nothing_half(world, "99.1.1")
