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
        "error: `99.1` could mean 99.1.1, 99.1.0\nhint: cvm uninstall 99.1.1\n",
    )


def test_uninstall_of_the_unknown_does_not_advise_to_install_it(world: World) -> None:
    outcome = world.run("uninstall", "99")
    assert (outcome.code, outcome.err) == (
        3,
        "error: `99` is not installed; nothing is installed yet\nhint: cvm list\n",
    )


def test_uninstall_says_beforehand_what_it_frees(world: World) -> None:
    world.ok("install", "99.1", "99.1-cudnn")
    planned = world.ok("uninstall", "99.1.1-cudnn99.8.9.25", "--dry-run", "--json").json
    assert planned["freed"] > 0
    done = world.ok("uninstall", "99.1.1-cudnn99.8.9.25", "--json").json
    assert (done["removed"], done["freed"]) == (planned["removed"], planned["freed"])


def test_uninstall_leaves_what_an_interrupted_install_goes_on_with(world: World) -> None:
    world.ok("install", "99.1.0", "99.10")
    shutil.rmtree(world.toolchain("99.10.0"))
    arrived = world.ok("prune", "--dry-run", "--json").json["archives"]
    assert arrived
    world.ok("uninstall", "99.1.0")
    assert world.ok("prune", "--dry-run", "--json").json["archives"] == arrived


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
    assert world.run("link", "site", tree).err == (
        f"error: `site` is linked already\nhint: cvm link --force site '{tree}'\n"
    )
    assert world.run("verify", "site").err == (
        "error: site is linked: cvm did not install its files and can't verify them\n"
    )
    world.ok("uninstall", "site")
    assert sorted(str(path) for path in tree.rglob("*")) == before


@pytest.mark.parametrize("name", ["latest", "12.4", "Site"])
def test_a_link_needs_a_plain_name(world: World, tmp_path: Path, name: str) -> None:
    assert world.run("link", name, tmp_path).code == 2


def test_a_folder_without_a_toolkit_is_not_adopted(world: World, tmp_path: Path) -> None:
    outcome = world.run("link", "site", tmp_path)
    assert outcome.code == 2
    assert "is not a CUDA toolkit" in outcome.err


def test_verify_names_what_came_later_and_does_not_mind_it(world: World) -> None:
    world.ok("install", "99.1")
    (world.toolchain("99.1.1") / "include" / "mine.h").touch()
    outcome = world.ok("verify")
    assert (outcome.out, outcome.err) == ("99.1.1: extra include/mine.h\n", "")
    assert world.ok("verify", "--json").json["intact"] is True


def test_another_choice_of_components_says_how_to_get_it(world: World) -> None:
    world.ok("install", "99.1")
    assert world.ok("install", "99.1", "--profile", "runtime", "--component", "cuda_cudart").err == (
        "99.1.1 is installed with another profile, source or other components; to change it: "
        "cvm install 99.1.1 --profile runtime --component cuda_cudart --reinstall\n"
    )


def test_a_receipt_that_makes_no_sense_does_not_hide_the_others(world: World) -> None:
    world.ok("install", "99.1.0", "99.10")
    receipt = world.toolchain("99.1.0") / ".cvm" / "receipt.json"
    receipt.write_text(receipt.read_text().replace('"toolkit": "99.1.0"', '"toolkit": "mine"'))
    assert world.ok("list").out == "99.10.0  $CVM_HOME/toolchains/99.10.0\n"


def test_verify_is_not_content_where_the_record_is_gone(world: World) -> None:
    world.ok("install", "99.1")
    (world.toolchain("99.1.1") / ".cvm" / "files.json").unlink()
    outcome = world.run("verify")
    assert (outcome.code, outcome.out, outcome.err) == (
        6,
        "",
        "error: the record of the files of 99.1.1 is gone or damaged\nhint: cvm install 99.1.1 --reinstall\n",
    )


def test_verify_says_how_to_mend_each_toolchain_as_it_was_asked_for(world: World) -> None:
    world.ok("install", "99.1.0", "99.10", "--profile", "runtime")
    for name in ("99.1.0", "99.10.0"):
        next(world.toolchain(name).glob("targets/*/lib/*.so.*")).unlink()
    outcome = world.run("verify")
    assert (outcome.code, outcome.err) == (
        6,
        "".join(f"to mend it: cvm install {name} --profile runtime --reinstall\n" for name in ("99.1.0", "99.10.0")),
    )


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
    nothing = world.run("list-remote", "cusparselt", "--platform", "linux-ppc64le")
    assert (nothing.code, nothing.err) == (4, "error: there is no cusparselt release for linux-ppc64le\n")


def test_refresh_brings_only_what_is_new(bare_world: World) -> None:
    added = bare_world.ok("manifest", "refresh", "cuda", "--json").json["added"]
    assert [item["version"] for item in added] == ["99.1.0", "99.1.1", "99.10.0"]
    assert bare_world.ok("manifest", "refresh", "cuda", "--json").json["added"] == []


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_refresh_reads_a_mirror_in_a_folder(bare_world: World, published: Path, form: str) -> None:
    mirror = form.format(published / "compute")
    added = bare_world.ok("manifest", "refresh", "cudnn", "--redist", mirror, "--json").json["added"]
    assert [item["version"] for item in added] == ["99.8.6", "99.8.9"]


def test_refresh_from_a_folder_that_is_not_there_is_no_success(bare_world: World) -> None:
    outcome = bare_world.run("manifest", "refresh", "--redist", "/nonsense")
    assert (outcome.code, outcome.err) == (
        2,
        "error: /nonsense is not a folder\nhint: give a folder in NVIDIA's layout, or an address\n",
    )


def test_a_manifest_is_taken_by_what_it_says_not_by_its_name(world: World) -> None:
    folder = world.home / "manifests" / "cuda"
    text = (folder / "99.1.1.toml").read_text()
    (folder / "99.10.0.toml").write_text(text.replace('version = "99.1.1"', 'version = "99.2.0"'))
    assert world.ok("install", "99.2.0", "--dry-run").out.startswith("99.2.0 for linux-x86_64")
    assert world.run("install", "99.10.0", "--dry-run").code == 4


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
    text = (path.parent / "99.1.1.toml").read_text()
    path.write_text(text.replace("99.1.1", "99.2.0").replace("source =", "cuda_variants = 12, lacks = 1, source ="))
    assert ": cuda_variants is not a list; " in world.run("list-remote").err
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


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("install", "cuda-12.1"), "error: `cuda-12.1` is not a CUDA version\nhint: write it as 12.1\n"),
        (
            ("install", "12.1", "--with-cudnn"),
            "error: Option '--with-cudnn' requires an argument\nhint: cvm install --help\n",
        ),
        (("install", "12.1", "--with-cudnn", ""), "error: `` is not a version\nhint: write it as 12.1 or 12.1.1\n"),
        (("install", "12.1", "--with-nccl", "2", "--with", "nccl"), "error: nccl is asked for twice\n"),
    ],
)
def test_a_slip_on_the_command_line_is_named(bare_world: World, arguments: tuple[str, ...], error: str) -> None:
    outcome = bare_world.run(*arguments)
    assert (outcome.code, outcome.err) == (2, error)


def test_a_component_by_a_short_name_gets_its_own_suggested(world: World) -> None:
    outcome = world.run("install", "99.1", "--component", "cudart")
    assert outcome.code == 4
    assert outcome.err.startswith("error: cuda 99.1.1 has no component `cudart` for linux-x86_64; it has cuda_cu")
    assert outcome.err.endswith("\nhint: --component cuda_cudart\n")
