"""Servers, proxies and indexes that fail: one sentence, nothing half, and the next run goes on."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

from tests.fakes.proxy import Proxy
from tests.fakes.server import Behaviour
from tests.functional.processes import assert_nothing_half
from tests.functional.releases import BIG, index_wheels, publish_big

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import Outcome, World

KEPT = "run the command again: it goes on from what has arrived"
OTHER_BYTES = "run the command again; if that doesn't help, a mirror or proxy on the way serves another file"
ELSEWHERE = "point CVM_REDIST_URL at a mirror, or try another --source"


@pytest.fixture(autouse=True)
def no_pauses(world: World) -> None:
    """Try again at once."""
    world.monkeypatch.setattr("cvm.net.client.Policy.pause_after", lambda *_: 0.0)
    world.monkeypatch.setenv("CVM_HTTP_TIMEOUT", "0.3")
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "PIP_INDEX_URL"):
        world.monkeypatch.delenv(name, raising=False)


def complaint(outcome: Outcome) -> tuple[str, str]:
    """The one sentence at the end, and its hint."""
    assert "Traceback" not in outcome.err
    match = re.fullmatch(r"(?:.*\n)*?error: (.+)\nhint: (.+)\n", outcome.err)
    assert match, outcome.err
    return match[1], match[2]


def fails(world: World, *arguments: str, code: int = 5) -> tuple[str, str]:
    """Run an install that fails and leaves nothing; returns its sentence and hint."""
    outcome = world.run("install", *arguments)
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert_nothing_half(world)
    return complaint(outcome)


def shown(world: World, path: str) -> str:
    return f"$SERVER{path}"


def misbehave(world: World, *behaviours: Behaviour) -> tuple[str, bytes]:
    """Let the server misbehave for one archive of 99.1.1; returns its path and bytes."""
    path = world.archive("libcublas").replace("99.10.100.1", "99.1.101.1")
    world.server.behave(path.lstrip("/"), *behaviours)
    return path, (world.server.folder / path.lstrip("/")).read_bytes()


def recovers(world: World, name: str = "99.1.1", *arguments: str) -> None:
    """Let the server be honest again, and the same command succeed."""
    world.server.behave("*")
    for request in world.server.requests:
        world.server.behave(request.path)
    world.ok("install", name, *arguments)
    assert_nothing_half(world, name)


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
    path, data = misbehave(world, Behaviour(cut_after=0))
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
    assert world.server.ranges(path) == [None, "bytes=524288-", "bytes=524288-"]


def test_no_network(world: World) -> None:
    world.server.close()
    first = next(iter(sorted(world.server.folder.rglob("cuda_cudart-*-99.1.101-*")))).relative_to(world.server.folder)
    refused = f"$SERVER/{first} can't be reached: connection refused"
    assert fails(world, "99.1", "--source", "redist") == (refused, "check the network")
    assert fails(world, "99.1") == (
        "NVIDIA's host can't be reached, and only it has 99.1.1",
        "check the network and the proxy settings, or point CVM_REDIST_URL at a mirror",
    )
    outcome = world.run("manifest", "refresh", "cuda")
    assert outcome.code == 5
    assert complaint(outcome) == (
        "$SERVER/compute/cuda/redist/ can't be reached: connection refused",
        "check the network",
    )


def test_a_dead_proxy_is_named_without_its_password(world: World) -> None:
    world.monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:1")
    sentence, hint = fails(world, "99.1", "--source", "redist")
    assert sentence.endswith(".tar.xz can't be reached through the proxy http://127.0.0.1:1: connection refused")
    assert hint == "check the proxy settings: http_proxy, https_proxy and no_proxy"
    world.monkeypatch.delenv("http_proxy")
    recovers(world)


def test_a_proxy_is_used(world: World) -> None:
    with Proxy() as proxy:
        world.monkeypatch.setenv("http_proxy", proxy.url)
        world.ok("install", "99.1")
        assert len([url for url in proxy.seen if url.endswith(".tar.xz")]) == 5
    assert_nothing_half(world, "99.1.1")


def test_wheels_come_from_the_configured_index(world: World, tmp_path: Path) -> None:
    world.monkeypatch.setenv("PIP_INDEX_URL", index_wheels(world, tmp_path / "index", "99.3.0"))
    world.ok("install", "99.3", "--source", "pypi")
    assert_nothing_half(world, "99.3.0")
    assert (world.toolchain("99.3.0") / "lib64" / "libcudart.so").exists()
    assert sorted({request.path.split("/")[0] for request in world.server.requests}) == ["files", "simple"]


def test_wheels_are_taken_where_nvidia_can_not_be_reached(world: World, tmp_path: Path) -> None:
    world.monkeypatch.setenv("PIP_INDEX_URL", index_wheels(world, tmp_path / "index", "99.3.0"))
    world.monkeypatch.setenv("CVM_REDIST_URL", "http://127.0.0.1:1/")
    world.ok("install", "99.3")
    assert_nothing_half(world, "99.3.0")


def test_an_index_that_has_another_wheel(world: World, tmp_path: Path) -> None:
    world.monkeypatch.setenv("PIP_INDEX_URL", index_wheels(world, tmp_path / "index", "99.3.0", lie="0" * 64))
    sentence, hint = fails(world, "99.3", "--source", "pypi", code=6)
    assert re.fullmatch(
        rf"the package index \$SERVER/simple/ has another nvidia_\w+-\S+\.whl: sha256 {'0' * 64}, expected [0-9a-f]{{64}}",
        sentence,
    )
    assert hint == "try another index in PIP_INDEX_URL, or --source redist"
    index_wheels(world, tmp_path / "index", "99.3.0")
    recovers(world, "99.3.0", "--source", "pypi")


def test_an_index_that_can_not_be_reached_or_lacks_the_project(world: World, tmp_path: Path) -> None:
    index_wheels(world, tmp_path / "index", "99.3.0")
    world.monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple/")
    unreachable = "the package index http://127.0.0.1:1/simple/ can't be reached: connection refused"
    assert fails(world, "99.3", "--source", "pypi") == (unreachable, "check the network")
    world.monkeypatch.setenv("PIP_INDEX_URL", f"{world.server.url}/other/")
    sentence, hint = fails(world, "99.3", "--source", "pypi", code=4)
    assert sentence.startswith("the package index $SERVER/other/ has no project nvidia-")
    assert hint == "try another index in PIP_INDEX_URL, or --source redist"
