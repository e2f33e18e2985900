"""Several commands at once on one home."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.fakes.server import Behaviour, wait_until
from tests.functional.processes import assert_nothing_half, finish, start

if TYPE_CHECKING:
    from tests.functional.conftest import World

NAMES = ("99.1.0", "99.1.1", "99.10.0", "99.1.1-cudnn99.8.9.25")


def fetched(world: World) -> Counter[str]:
    """How often each archive was asked for."""
    return Counter(request.path for request in world.server.requests if request.path.endswith(".tar.xz"))


@pytest.mark.parametrize(
    "names",
    [["99.1.1"] * 2, ["99.1.1"] * 8, list(NAMES[:2]), [*NAMES, *NAMES]],
    ids=["two alike", "eight alike", "two unlike", "eight of four"],
)
def test_installs_at_once_wait_for_each_other(world: World, names: list[str]) -> None:
    running = [start("install", name) for name in names]
    outcomes = [finish(each) for each in running]
    assert [code for code, _, _ in outcomes] == [0] * len(names), outcomes
    assert_nothing_half(world, *set(names))
    counts = fetched(world)
    assert set(counts.values()) == {1}, counts
    installed = [out for _, out, _ in outcomes if out.startswith("installed ")]
    assert len(installed) == len(set(names))
    assert list((world.home / "cache").iterdir()) == []


def test_an_uninstall_waits_for_an_install_and_says_for_whom(world: World) -> None:
    world.ok("install", "99.1.1")
    slow = world.archive("libcublas").lstrip("/")
    world.server.behave(slow, Behaviour(drip=0.3, drip_size=200))
    installing = start("install", "99.10")
    wait_until(lambda: world.server.count(slow))
    uninstalling = start("uninstall", "99.1.1")
    # Whoever only reads waits for nobody.
    assert_listed(world, "99.1.1")
    assert finish(installing)[0] == 0
    code, out, err = finish(uninstalling)
    assert (code, out) == (0, "removed 99.1.1\n")
    assert err.startswith(f"waiting for process {installing.pid}, which is changing this home\n")
    assert_nothing_half(world, "99.10.0")


def assert_listed(world: World, *names: str) -> None:
    assert [line.split()[0] for line in world.ok("list").out.splitlines()] == list(names)
    assert world.run("verify").code == 0
