"""Servers that fail, lie or stop: one sentence, nothing half, and the next run goes on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.fakes.server import Behaviour
from tests.functional.outcomes import fails, recovers
from tests.functional.processes import assert_nothing_half
from tests.functional.releases import BIG, publish_big

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World

KEPT = "run the command again: it goes on from what has arrived"
OTHER_BYTES = "run the command again; if that doesn't help, a mirror or proxy on the way serves another file"
ELSEWHERE = "point CVM_REDIST_URL at a mirror, or try another --source"


@pytest.fixture(autouse=True)
def impatient(world: World) -> None:
    """Try again at once, and wait for nobody."""
    world.monkeypatch.setattr("cvm.net.client.Policy.pause_after", lambda *_: 0.0)
    world.monkeypatch.setenv("CVM_HTTP_TIMEOUT", "0.3")


def shown(world: World, path: str) -> str:
    return f"$SERVER{path}"


def misbehave(world: World, *behaviours: Behaviour) -> tuple[str, bytes]:
    """Let the server misbehave for one archive of 99.1.1; returns its path and bytes."""
    path = world.archive("libcublas").replace("99.10.100.1", "99.1.101.1")
    world.server.behave(path.lstrip("/"), *behaviours)
    return path, (world.server.folder / path.lstrip("/")).read_bytes()


def test_an_archive_with_another_hash(world: World) -> None:
    path, data = misbehave(world)
    lie = b"x" * len(data)
    misbehave(world, Behaviour(body=lie))
    digests = [hashlib.sha256(bytes_).hexdigest() for bytes_ in (lie, data)]
    name = path.rsplit("/", 1)[-1]
    assert fails(world, "99.1", code=6) == (f"{name} has the sha256 {digests[0]} instead of {digests[1]}", OTHER_BYTES)
    assert [p.name for p in (world.home / "cache").iterdir()] == []
    recovers(world)


def test_an_archive_of_another_size(world: World) -> None:
    path, data = misbehave(world)
    misbehave(world, Behaviour(body=data + b"more"))
    name, size = path.rsplit("/", 1)[-1], len(data)
    said = f"{name} has {size + 4} bytes at {shown(world, path)} instead of {size}"
    assert fails(world, "99.1", code=6) == (said, OTHER_BYTES)
    misbehave(world, Behaviour(body=data + b"more", no_length=True))
    assert fails(world, "99.1", code=6) == (f"{name} has {size + 4} bytes or more instead of {size}", OTHER_BYTES)
    recovers(world)


def test_an_archive_that_never_comes_whole(world: World) -> None:
    path, _ = misbehave(world, Behaviour(cut_after=0))
    assert fails(world, "99.1") == (f"{shown(world, path)}: the connection ended early, 5 times in a row", KEPT)
    recovers(world)


def test_an_archive_that_comes_in_pieces_is_put_together(world: World) -> None:
    path, data = misbehave(world, Behaviour(cut_after=100))
    outcome = world.ok("install", "99.1")
    asked = [request.range for request in world.server.requests if request.path == path.lstrip("/")]
    assert asked == [None, *(f"bytes={n}-" for n in range(100, len(data), 100))]
    assert outcome.err.count("libcublas 99.1.101.1: the connection ended early; trying again\n") == 1
    assert_nothing_half(world, "99.1.1")


def test_an_archive_that_is_not_there(world: World) -> None:
    path, _ = misbehave(world, Behaviour(status=404))
    assert fails(world, "99.1") == (f"{shown(world, path)} answered 404 Not Found", ELSEWHERE)
    recovers(world)


def test_a_server_that_fails_and_comes_back(world: World) -> None:
    path, _ = misbehave(world, Behaviour(status=500, times=5))
    assert fails(world, "99.1") == (f"{shown(world, path)}: the server answered 500, 5 times in a row", KEPT)
    misbehave(world, Behaviour(status=500, times=2))
    world.ok("install", "99.1")
    assert_nothing_half(world, "99.1.1")


def test_a_server_that_ignores_ranges(world: World) -> None:
    path, _ = misbehave(world, Behaviour(cut_after=100, times=1), Behaviour(ignore_range=True))
    world.ok("install", "99.1")
    assert world.server.ranges(path.lstrip("/")) == [None, "bytes=100-"]
    assert_nothing_half(world, "99.1.1")


def test_a_server_that_says_nothing(world: World) -> None:
    path, _ = misbehave(world, Behaviour(hang=True))
    world.monkeypatch.setenv("CVM_HTTP_TIMEOUT", "0.05")
    assert fails(world, "99.1") == (f"{shown(world, path)}: no answer in time, 5 times in a row", KEPT)
    recovers(world)


def test_a_server_that_stops_in_the_middle(world: World, tmp_path: Path) -> None:
    path = publish_big(world, tmp_path / "served")
    world.server.behave(path, Behaviour(hang_after=600_000, times=1), Behaviour(status=404))
    assert fails(world, BIG)[0] == f"$SERVER/{path} answered 404 Not Found"
    recovers(world, BIG)
    # What came is never asked for again.
    first, second, third = world.server.ranges(path)
    assert (first, second) == (None, third)
    assert int(str(third).removeprefix("bytes=").removesuffix("-")) > 300_000
