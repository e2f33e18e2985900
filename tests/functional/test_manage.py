from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World


def test_a_fresh_home_lists_nothing_and_says_how_to_begin(bare_world: World) -> None:
    outcome = bare_world.ok("list")
    assert outcome.out == ""
    assert outcome.err == "nothing is installed yet; try `cvm install 12.1 --with-cudnn auto`\n"
    assert bare_world.ok("list", "--json").json["toolchains"] == []
    assert not bare_world.home.exists()


def test_list_shows_what_is_installed_oldest_first(world: World) -> None:
    world.ok("install", "99.10", "99.1-cudnn")
    assert world.ok("list").out == (
        "99.1.1-cudnn99.8.9.25  $CVM_HOME/toolchains/99.1.1-cudnn99.8.9.25\n"
        "99.10.0                $CVM_HOME/toolchains/99.10.0\n"
    )
    names = [t["companions"] for t in world.ok("list", "--json").json["toolchains"]]
    assert names == [{"cudnn": "99.8.9.25"}, {}]


def test_uninstall_frees_what_nothing_else_uses(world: World) -> None:
    world.ok("install", "99.1", "99.1-cudnn")
    world.ok("uninstall", "99.1.1-cudnn99.8.9.25")
    stored = sorted(path.parent.name[:2] for path in world.home.glob("store/??/*"))
    assert len(stored) == 5
    world.ok("uninstall", "99.1")
    assert list(world.home.glob("store/??/*")) == []
    assert world.run("uninstall", "99.1").code == 3


def test_every_command_answers_in_json_as_its_schema_says(world: World, tmp_path: Path) -> None:
    world.ok("install", "99.1", "99.1-cudnn", "--json")
    prefix = world.toolchain("99.1.1")
    (prefix / "include" / "cublas_v2.h").unlink()
    assert world.run("verify", "99.1.1", "--json").json["toolchains"][0]["changes"] == [
        {"path": "include/cublas_v2.h", "kind": "missing"}
    ]
    assert world.ok("verify", "99.1.1-cudnn99.8.9.25", "--json").json["intact"] is True
    tree = tmp_path / "tree"
    shutil.copytree(prefix, tree, symlinks=True)
    assert world.ok("link", "site", tree, "--json").json["toolkit"] == "99.1.1"
    assert world.ok("uninstall", "site", "--dry-run", "--json").json["removed"] == ["site"]
    removed = world.ok("uninstall", "99.1.1-cudnn99.8.9.25", "--json").json
    assert removed["removed"] == ["99.1.1-cudnn99.8.9.25"]
    assert removed["freed"] > 0


def test_uninstall_refuses_a_request_that_could_mean_two(world: World) -> None:
    world.ok("install", "99.1.0", "99.1.1")
    outcome = world.run("uninstall", "99.1")
    assert (outcome.code, outcome.err) == (
        2,
        "error: `99.1` could mean 99.1.1, 99.1.0\nhint: give the whole name, such as 99.1.1\n",
    )


def test_uninstall_checks_all_before_it_removes_any(world: World) -> None:
    world.ok("install", "99.1")
    assert world.run("uninstall", "99.1", "98").code == 3
    assert world.toolchain("99.1.1").exists()


def test_a_linked_toolkit_is_listed_and_never_touched(world: World, tmp_path: Path) -> None:
    world.ok("install", "99.1")
    tree = tmp_path / "site cuda"
    shutil.copytree(world.toolchain("99.1.1"), tree, symlinks=True)
    before = sorted(str(path) for path in tree.rglob("*"))
    assert world.ok("link", "site", tree).out == f"site is CUDA 99.1.1 at {tree}\n"
    assert f"site    CUDA 99.1.1, linked: {tree}" in world.ok("list").out
    assert world.run("link", "site", tree).code == 2
    world.ok("uninstall", "site")
    assert sorted(str(path) for path in tree.rglob("*")) == before


@pytest.mark.parametrize("name", ["latest", "12.4", "Site"])
def test_a_link_needs_a_plain_name(world: World, tmp_path: Path, name: str) -> None:
    assert world.run("link", name, tmp_path).code == 2


def test_a_folder_without_a_toolkit_is_not_adopted(world: World, tmp_path: Path) -> None:
    outcome = world.run("link", "site", tmp_path)
    assert outcome.code == 2
    assert "is not a CUDA toolkit" in outcome.err


def test_prune_removes_what_no_toolchain_uses(world: World) -> None:
    world.ok("install", "99.1")
    shutil.rmtree(world.toolchain("99.1.1"))
    assert len(world.ok("prune", "--dry-run", "--json").json["archives"]) == 5
    assert len(world.ok("prune", "--json").json["archives"]) == 5
    assert world.ok("prune", "--json").json["archives"] == []


def test_the_cache_is_shown_and_cleared(world: World) -> None:
    world.home.joinpath("cache").mkdir(parents=True, exist_ok=True)
    (world.home / "cache" / "x.part").write_bytes(b"1234")
    assert world.ok("cache", "dir").out == "$CVM_HOME/cache\n"
    assert world.ok("cache", "dir", "--json").json["size"] == 4
    assert world.ok("cache", "clear", "--json").json["freed"] == 4
    assert world.ok("cache", "dir", "--json").json["size"] == 0


def test_list_remote_shows_sources_and_the_newest_cudnn(world: World) -> None:
    assert world.ok("list-remote", "99").out == (
        "99.1.0      redist          cuDNN 99.8.9\n"
        "99.1.1      redist          cuDNN 99.8.9\n"
        "99.10.0     redist          cuDNN 99.8.9\n"
    )
    assert (
        world.ok("list-remote", "cudnn", "99").out
        == "99.8.6      redist          cuda98\n99.8.9      redist          cuda99\n"
    )
    assert world.ok("list-remote", "cuda", "12.1", "--json").json["releases"][0]["version"] == "12.1.0"
    assert world.run("list-remote", "tensorrt").code == 4


def test_refresh_brings_only_what_is_new(bare_world: World) -> None:
    added = bare_world.ok("manifest", "refresh", "cuda", "--json").json["added"]
    assert [item["version"] for item in added] == ["99.1.0", "99.1.1", "99.10.0"]
    assert bare_world.ok("manifest", "refresh", "cuda", "--json").json["added"] == []


def test_a_custom_toolkit_installs_like_any_other(world: World, published: Path) -> None:
    shipped = (world.home / "manifests" / "cuda" / "99.1.1.toml").read_text()
    custom = shipped.replace('version = "99.1.1"', 'version = "99.1.1+lab"')
    (world.home / "manifests" / "cuda" / "99.1.1+lab.toml").write_text(custom)
    assert world.ok("install", "99.1", "--json").json["toolchains"][0]["name"] == "99.1.1"
    assert world.ok("install", "99.1.1+lab").out == "installed 99.1.1+lab at $CVM_HOME/toolchains/99.1.1+lab\n"


def test_a_damaged_manifest_is_named_with_all_its_faults(world: World) -> None:
    path = world.home / "manifests" / "cuda" / "99.2.0.toml"
    path.write_text('schema = 1\nproduct = "cuda"\nversion = "99.2.0"\n[components.x]\nversion = ""\n')
    outcome = world.run("list-remote")
    assert outcome.code == 2
    assert (
        outcome.err == "error: $CVM_HOME/manifests/cuda/99.2.0.toml is not a manifest: x: version is missing or empty\n"
    )
    path.write_text("schema = ")
    assert world.run("list-remote").code == 2


def test_help_of_every_command_shows_an_example(bare_world: World) -> None:
    from cvm.cli.app import COMMANDS

    for name in COMMANDS:
        for words in (
            ([name, "dir"], [name, "clear"])
            if name == "cache"
            else ([name, "refresh"],)
            if name == "manifest"
            else ([name],)
        ):
            assert "Example" in bare_world.ok(*words, "--help").out
