from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cvm.prefix.linker import Linker

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World


def test_the_plan_is_shown_before_anything_is_downloaded(world: World) -> None:
    outcome = world.ok("install", "99.1-cudnn99.8", "--dry-run")
    assert outcome.out.splitlines()[0] == "99.1.1-cudnn99.8.9.25 for linux-x86_64, devel profile"
    assert [line.split()[:3] for line in outcome.out.splitlines()[1:7]] == [
        ["cuda_cudart", "99.1.101", "redist"],
        ["cuda_cupti", "99.1.101", "redist"],
        ["cuda_nvcc", "99.1.101", "redist"],
        ["cuda_sanitizer_api", "99.1.101", "redist"],
        ["libcublas", "99.1.101.1", "redist"],
        ["cudnn", "99.8.9.25", "redist"],
    ]
    assert [request.method for request in world.server.requests] == ["HEAD"]
    assert not world.toolchain("99.1.1-cudnn99.8.9.25").exists()


def test_an_install_says_what_one_agrees_to_and_where_it_is(world: World) -> None:
    outcome = world.ok("install", "99.1")
    assert outcome.out == "installed 99.1.1 at $CVM_HOME/toolchains/99.1.1\n"
    first, second = outcome.err.splitlines()
    assert first == (
        "installing means agreeing to the CUDA Toolkit End User License Agreement "
        "(https://docs.nvidia.com/cuda/eula/index.html)"
    )
    assert second.startswith("5 of 5 archives to fetch: ")
    assert (world.toolchain("99.1.1") / "bin" / "nvcc").stat().st_mode & 0o777 == 0o555
    assert world.leftovers() == []


def test_an_install_that_is_there_costs_nothing(world: World) -> None:
    world.ok("install", "99.1")
    world.server.requests.clear()
    outcome = world.ok("install", "99.1.1")
    assert outcome.out == "99.1.1 is installed at $CVM_HOME/toolchains/99.1.1\n"
    assert world.server.requests == []


def test_two_toolchains_share_the_bytes_of_their_archives(world: World, tmp_path: Path) -> None:
    world.ok("install", "99.1", "99.1-cudnn99.8.9")
    fetched = [request.path for request in world.server.requests if request.method == "GET"]
    assert len(fetched) == len(set(fetched)) == 6
    paths = [world.toolchain(name) / "bin" / "nvcc" for name in ("99.1.1", "99.1.1-cudnn99.8.9.25")]
    linker = Linker()
    linker.place(paths[0], tmp_path / "nvcc")
    if "reflink" not in linker.counts:
        assert paths[0].stat().st_ino == paths[1].stat().st_ino
        assert paths[0].stat().st_nlink >= 3


def test_a_partial_version_is_the_newest_by_parts(world: World) -> None:
    assert world.ok("install", "99", "--json").json["toolchains"][0]["name"] == "99.10.0"
    assert world.ok("install", "99.1", "--json").json["toolchains"][0]["name"] == "99.1.1"


def test_a_pair_that_does_not_fit_is_refused(world: World) -> None:
    outcome = world.run("install", "99.1", "--with-cudnn", "99.8.6")
    assert (outcome.code, outcome.out) == (7, "")
    assert outcome.err.startswith("error: cudnn 99.8.6 does not go with CUDA 99.1.1: ")
    assert "these fit: 99.8.9" in outcome.err
    assert not world.toolchain("99.1.1").exists()


def test_no_match_names_the_nearest_in_json_too(world: World) -> None:
    outcome = world.run("install", "99.7", "--json")
    assert outcome.code == 4
    assert outcome.json["error"] == {
        "kind": "no-match",
        "message": "no cuda release matches `99.7` for this platform and source; the nearest are 99.1.0, 99.1.1, 99.10.0",
        "hint": "cvm list-remote cuda",
        "exit_code": 4,
    }


def test_bad_usage_is_one_sentence_with_exit_code_2(world: World) -> None:
    outcome = world.run("install", "99.1", "--with", "tensorrt")
    assert (outcome.code, outcome.err) == (
        2,
        "error: `tensorrt` is not a companion\nhint: --with one of cudnn, nccl, cutensor, cusparselt\n",
    )


def test_components_and_profiles_choose_parts(world: World) -> None:
    world.ok("install", "99.1.0", "--component", "cuda-nvcc")
    assert not (world.toolchain("99.1.0") / "include" / "cublas_v2.h").exists()
    outcome = world.ok("install", "99.1.0")
    assert "to change it: cvm install 99.1.0 --reinstall" in outcome.err
    world.ok("install", "99.1.0", "--reinstall", "--profile", "runtime")
    assert (world.toolchain("99.1.0") / "include" / "cublas_v2.h").exists()
    assert not (world.toolchain("99.1.0") / "bin" / "nvcc").exists()


def test_reinstall_mends_what_changed_in_the_store_and_in_the_prefix(world: World) -> None:
    world.ok("install", "99.1")
    header = world.toolchain("99.1.1") / "include" / "cublas_v2.h"
    header.chmod(0o644)
    header.write_text("damaged")
    outcome = world.run("verify")
    assert (outcome.code, outcome.out) == (6, "99.1.1: changed include/cublas_v2.h\n")
    world.ok("install", "99.1", "--reinstall")
    assert world.ok("verify").out.startswith("99.1.1: ")
    assert header.read_text() == ""


def test_local_archives_are_taken_from_a_folder(world: World, published: Path) -> None:
    outcome = world.ok("install", "99.1", "--from", published / "compute")
    assert outcome.out.startswith("installed 99.1.1")
    assert [request for request in world.server.requests if request.method == "GET"] == []


def test_a_single_local_archive_is_taken_and_the_rest_fetched(world: World, published: Path) -> None:
    archive = next(published.rglob("libcublas-*-99.1.101.1-archive.tar.xz"))
    world.ok("install", "99.1", "--from", archive)
    assert len([request for request in world.server.requests if request.method == "GET"]) == 4


def test_an_unpacked_tree_is_copied(world: World, tmp_path: Path) -> None:
    world.ok("install", "99.1")
    tree = tmp_path / "a tree"
    world.toolchain("99.1.1").rename(tree)
    outcome = world.ok("install", "99.1", "--from", tree)
    assert outcome.out == f"copied {tree} to $CVM_HOME/toolchains/99.1.1\n"
    assert (world.toolchain("99.1.1") / "bin" / "nvcc").exists()
    assert world.run("install", "99.10", "--from", tree).code == 7
    again = world.run("install", "99.1", "--from", tree)
    assert again.err == (f"error: 99.1.1 is installed already\nhint: cvm install 99.1.1 --from '{tree}' --reinstall\n")


@pytest.mark.parametrize("option", [("--platform", "linux-sbsa"), ("--component", "cuda_cudart")])
def test_a_tree_is_copied_whole_or_not_at_all(world: World, option: tuple[str, str]) -> None:
    world.ok("install", "99.1")
    tree = world.toolchain("99.1.1")
    assert world.run("install", "99.1", "--from", tree, *option).err == (
        f"error: {option[0]} does not go with $CVM_HOME/toolchains/99.1.1: a toolkit's folder is copied whole\n"
    )


def test_the_companions_of_a_tree_are_matched_by_parts(world: World, tmp_path: Path) -> None:
    world.ok("install", "99.1-cudnn")
    tree = world.toolchain("99.1.1-cudnn99.8.9.25").rename(tmp_path / "tree")
    refused = world.run("install", "99.1-cudnn9", "--from", tree)
    assert (refused.code, refused.err) == (
        7,
        f"error: {tree} has cudnn 99.8.9, not 9\nhint: cvm install 99.1.1 --from {tree}\n",
    )
    assert world.ok("install", "99.1-cudnn99.8", "--from", tree).out.endswith("/toolchains/99.1.1-cudnn99.8.9\n")


def test_a_foreign_platform_is_named(world: World) -> None:
    outcome = world.run("install", "99.1", "--platform", "linux-sbsa")
    assert outcome.code == 4
    assert world.run("install", "99.1", "--platform", "beos").code == 2


def test_a_toolchain_for_another_platform_has_another_name(world: World) -> None:
    world.ok("install", "99.1")
    manifest = world.home / "manifests" / "cuda" / "99.1.1.toml"
    manifest.write_text(manifest.read_text().replace('platform = "linux-x86_64"', 'platform = "linux-sbsa"'))
    assert world.ok("install", "99.1", "--platform", "linux-sbsa").out == (
        "installed 99.1.1-linux-sbsa at $CVM_HOME/toolchains/99.1.1-linux-sbsa\n"
    )
    header = world.toolchain("99.1.1-linux-sbsa") / "include" / "cublas_v2.h"
    header.unlink()
    outcome = world.run("verify", "99.1.1-linux-sbsa")
    assert outcome.err == "to mend it: cvm install 99.1.1 --platform linux-sbsa --reinstall\n"
    assert world.ok("uninstall", "99.1").out == "removed 99.1.1\n"
    assert world.run("uninstall", "99.1").code == 3
    assert world.ok("uninstall", "99.1.1-linux-sbsa").code == 0


def test_an_address_that_is_none_is_named(world: World) -> None:
    world.monkeypatch.setenv("CVM_REDIST_URL", "nonsense")
    assert world.run("install", "99.1").err == (
        "error: CVM_REDIST_URL is nonsense, not an address\n"
        "hint: write it like https://developer.download.nvidia.com/compute/\n"
    )
