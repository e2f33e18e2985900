"""Networks, proxies and package indexes that are not there, or not what they should be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.fakes.proxy import Proxy
from tests.fakes.server import Behaviour
from tests.functional.outcomes import complaint, fails, recovers
from tests.functional.processes import assert_nothing_half
from tests.functional.releases import index_wheels

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World


@pytest.fixture(autouse=True)
def only_what_a_test_sets(world: World) -> None:
    """Try again at once, and know no proxy and no index."""
    world.monkeypatch.setattr("cvm.net.client.Policy.pause_after", lambda *_: 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "PIP_INDEX_URL"):
        world.monkeypatch.delenv(name, raising=False)


def test_no_network(world: World) -> None:
    world.server.close()
    first = next(iter(sorted(world.server.folder.rglob("cuda_cudart-*-99.1.101-*")))).relative_to(world.server.folder)
    refused = f"$SERVER/{first} can't be reached: connection refused"
    assert fails(world, "99.1", "--source", "redist") == (refused, "check the network")
    assert fails(world, "99.1") == (
        "NVIDIA's host can't be reached, and only it has 99.1.1 for linux-x86_64",
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


def test_a_silent_server_is_given_up(world: World, tmp_path: Path) -> None:
    index = index_wheels(world, tmp_path / "index", "99.3.0")
    world.monkeypatch.setenv("PIP_INDEX_URL", index)
    world.monkeypatch.setenv("CVM_HTTP_TIMEOUT", "0.1")
    world.server.behave("*", Behaviour(hang=True))
    said = "the package index $SERVER/simple/ does not answer in time"
    assert fails(world, "99.3", "--source", "pypi") == (said, "run the command again")
    outcome = world.run("manifest", "refresh", "cuda")
    assert complaint(outcome) == ("$SERVER/compute/cuda/redist/ does not answer in time", "run the command again")
