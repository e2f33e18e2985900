"""CUDA 12.1 with cuDNN 8.9.4, and a second toolchain that shares its archives."""

import json
import time
from pathlib import Path

import pytest

from tests.real.home import OFFLINE, disk_bytes, file_bytes
from tests.real.programs import VERSIONS_C, compile_c

pytestmark = [pytest.mark.network, pytest.mark.big]


@pytest.fixture(scope="module")
def installed(home):
    return home.install("12.1", "--with-cudnn", "8.9.4", "--source", "pypi")


def test_a_program_built_against_it_reports_the_versions_asked_for(installed, tmp_path):
    printed = compile_c(VERSIONS_C, Path(installed["prefix"]), tmp_path, "cudart", "cublas", "cublasLt", "cudnn")

    assert installed["name"] == "12.1.1-cudnn8.9.4.25"
    assert printed == "cudart 12010\ncublas 120103\ncudnn 8904\n"


def test_the_size_on_disk_is_to_the_byte_what_the_plan_said(home, installed):
    unpacked = file_bytes(*home.folder.glob("store/*/*/tree"))

    assert (installed["unpacked_is_estimate"], installed["unpacked"]) == (False, unpacked)
    assert sum(archive["unpacked"] for archive in installed["archives"]) == unpacked
    assert not list(home.folder.glob("cache/*.part"))


def test_every_file_is_as_it_was_recorded(home, installed):
    (verified,) = json.loads(home.cvm("verify", "12.1", "--json"))["toolchains"]

    assert (verified["name"], verified["changes"]) == (installed["name"], [])
    assert verified["files"] > 1500


def test_a_second_toolchain_of_the_same_archives_takes_links_only_and_no_network(home, installed):
    library = Path(installed["prefix"], "lib/libcublasLt.so.12")
    if library.stat().st_nlink < 2:
        pytest.skip("this file system shares bytes by reflinks, which no block count shows")
    before = disk_bytes(home.folder)

    start = time.monotonic()
    second = home.install("12.1", **OFFLINE)
    print(f"the second toolchain took {time.monotonic() - start:.2f} s")  # noqa: T201

    assert (second["name"], second["status"], second["download"]) == ("12.1.1", "installed", 0)
    assert all(archive["in_store"] for archive in second["archives"])
    # What is new: the files that repairs make, the receipt with the hashes of all files.
    assert 0 < disk_bytes(home.folder) - before < 2_000_000
    assert Path(second["prefix"], "lib/libcublasLt.so.12").samefile(library)
    assert not Path(second["prefix"], "include/cudnn.h").exists()
    assert {item["name"]: item["changes"] for item in json.loads(home.cvm("verify", "--json"))["toolchains"]} == {
        "12.1.1": [],
        "12.1.1-cudnn8.9.4.25": [],
    }


def test_what_both_share_stays_until_the_last_is_uninstalled(home, installed):
    home.install("12.1", **OFFLINE)

    home.cvm("uninstall", installed["name"])
    home.cvm("prune")
    stored = {path.name for path in home.folder.glob("store/*/*/tree/*.dist-info")}

    assert any(name.startswith("nvidia_cublas") for name in stored)
    assert not any(name.startswith("nvidia_cudnn") for name in stored)
    assert [item["changes"] for item in json.loads(home.cvm("verify", "--json"))["toolchains"]] == [[]]
    home.clear()
