"""Commands that are stopped in the middle: nothing half is left, or it is gone after the next command."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.fakes.server import Behaviour, wait_until
from tests.functional.processes import assert_nothing_half, finish, run, start
from tests.functional.releases import BIG, publish_big

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World

IN_WORKERS = "import cvm.fetch\ncvm.fetch._SMALL = 0"
# The code of a command that a signal stopped, and what it says.
SIGNALS = {
    signal.SIGINT: (130, "error: interrupted; the next run goes on from here\n"),
    signal.SIGTERM: (-signal.SIGTERM, "error: stopped by SIGTERM; the next run goes on from here\n"),
    signal.SIGHUP: (-signal.SIGHUP, "error: stopped by SIGHUP; the next run goes on from here\n"),
}


def stopped_while_fetching(world: World, path: str, number: int, *arguments: str, script: str = "") -> tuple[int, str]:
    """Send a signal to the whole group of a command in the middle of an archive; returns its code and last words."""
    world.server.behave(path, Behaviour(hang_after=600_000, times=1))
    running = start("install", *arguments, script=script)
    wait_until(lambda: world.server.sent >= 600_000)
    time.sleep(0.2)
    os.killpg(running.pid, number)
    code, out, err = finish(running)
    assert out == ""
    assert "Traceback" not in err
    return code, err.rpartition("disk\n")[2].lstrip("\n")


@pytest.mark.parametrize(
    ("number", "script"),
    [(signal.SIGINT, ""), (signal.SIGINT, IN_WORKERS), (signal.SIGTERM, IN_WORKERS), (signal.SIGHUP, "")],
    ids=["SIGINT", "SIGINT with workers", "SIGTERM with workers", "SIGHUP"],
)
def test_a_stopped_download_goes_on_where_it_was(world: World, tmp_path: Path, number: int, script: str) -> None:
    path = publish_big(world, tmp_path / "served")
    assert stopped_while_fetching(world, path, number, BIG, script=script) == SIGNALS[number]
    assert_nothing_half(world)
    part = next((world.home / "cache").glob("*.part"))
    here = part.stat().st_size
    assert here > 300_000
    world.ok("install", BIG)
    assert world.server.ranges(path) == [None, f"bytes={here}-"]
    assert_nothing_half(world, BIG)
    assert list((world.home / "cache").iterdir()) == []


def test_a_signal_that_is_ignored_stays_ignored(world: World, tmp_path: Path) -> None:
    path = publish_big(world, tmp_path / "served")
    world.server.behave(path, Behaviour(drip=0.02, drip_size=50_000, times=1))
    running = start("install", BIG, script="import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)")
    wait_until(lambda: world.server.sent >= 200_000)
    os.killpg(running.pid, signal.SIGHUP)
    assert finish(running)[0] == 0
    assert_nothing_half(world, BIG)


def test_a_killed_download_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    path = publish_big(world, tmp_path / "served")
    assert stopped_while_fetching(world, path, signal.SIGKILL, BIG, script=IN_WORKERS)[0] == -signal.SIGKILL
    assert world.ok("list").out == ""
    world.ok("install", BIG)
    assert [asked is None for asked in world.server.ranges(path)] == [True, False]
    assert_nothing_half(world, BIG)


KILL = """\
import importlib, os, signal
owner = importlib.import_module({module!r})
*path, last = {name!r}.split(".")
for part in path: owner = getattr(owner, part)
real = getattr(owner, last)
def dying(*arguments, **options):
    if {when!r} == "before": os.kill(os.getpid(), signal.SIGKILL)
    real(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, last, dying)
"""
# Every step of an install from the first byte to the last rename, each where it is used.
STEPS = [
    ("cvm.net.part", "Part.keep", "after"),
    ("cvm.store", "unpack", "after"),
    ("cvm.store", "_write_record", "after"),
    ("cvm.store", "Store._place", "after"),
    ("cvm.actions.install", "build", "before"),
    ("cvm.prefix.build", "repair", "before"),
    ("cvm.actions.install", "write_receipt", "before"),
    ("cvm.actions.install", "replace_folder", "before"),
    ("cvm.actions.install", "replace_folder", "after"),
]


@pytest.mark.parametrize(("module", "name", "when"), STEPS, ids=[f"{when} {name}" for _, name, when in STEPS])
def test_a_kill_at_any_step_leaves_nothing_that_looks_whole(world: World, module: str, name: str, when: str) -> None:
    code, out, _ = run("install", "99.1", script=KILL.format(module=module, name=name, when=when))
    assert (code, out) == (-signal.SIGKILL, "")
    done = (name, when) == ("replace_folder", "after")
    assert bool(world.ok("list").out) == done
    assert world.run("verify").code == 0
    world.ok("install", "99.1")
    assert_nothing_half(world, "99.1.1")
    assert list((world.home / "cache").iterdir()) == []


def works(world: World) -> bool:
    told = subprocess.run([world.toolchain("99.1.1") / "bin" / "nvcc"], capture_output=True, text=True, check=False)
    return told.stdout.startswith("Cuda compilation tools, release 99.1")


def reinstalled(world: World) -> None:
    """Check that another --reinstall brings all to rights."""
    world.ok("install", "99.1", "--reinstall")
    assert_nothing_half(world, "99.1.1")
    assert works(world)


def test_an_interrupted_reinstall_keeps_the_old_toolchain(world: World) -> None:
    world.ok("install", "99.1")
    for entry in (world.home / "store").glob("??/*"):
        entry.rename(world.home.parent / entry.name)
    path = world.archive("libcublas").replace("99.10.100.1", "99.1.101.1").lstrip("/")
    world.server.behave(path, Behaviour(hang=True))
    before = world.server.count(path)
    running = start("install", "99.1", "--reinstall")
    wait_until(lambda: world.server.count(path) > before)
    os.killpg(running.pid, signal.SIGINT)
    assert finish(running)[0] == 130
    assert works(world)
    assert_nothing_half(world, "99.1.1")
    world.server.behave(path)
    reinstalled(world)


@pytest.mark.parametrize(
    ("name", "when"),
    [("_exchange", "before"), ("_exchange", "after"), ("remove_tree", "after")],
    ids=["before _exchange", "after _exchange", "after remove_tree"],
)
def test_a_killed_reinstall_leaves_the_old_or_the_new(world: World, name: str, when: str) -> None:
    world.ok("install", "99.1")
    script = KILL.format(module="cvm.disk", name=name, when=when)
    assert run("install", "99.1", "--reinstall", script=script)[0] == -signal.SIGKILL
    assert works(world)
    assert world.run("verify").code == 0
    reinstalled(world)


@pytest.mark.parametrize(
    ("name", "when"), [("_move_aside", "before"), ("_move_aside", "after"), ("remove_tree", "after")]
)
def test_a_killed_uninstall_is_finished_by_prune(world: World, name: str, when: str) -> None:
    world.ok("install", "99.1")
    code, _, _ = run("uninstall", "99.1", script=KILL.format(module="cvm.disk", name=name, when=when))
    assert code == -signal.SIGKILL
    kept = ["99.1.1"] if (name, when) == ("_move_aside", "before") else []
    world.ok("prune")
    assert_nothing_half(world, *kept)
    assert bool(list((world.home / "store").glob("??/*"))) == bool(kept)
