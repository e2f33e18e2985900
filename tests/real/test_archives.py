"""NVIDIA's archive layout with NVIDIA's real files, from a server that breaks off once."""

import json
from pathlib import Path

import pytest

from tests.fakes.redist import publish
from tests.fakes.server import Behaviour, Server
from tests.real.home import Home
from tests.real.programs import KERNEL_CU, KERNEL_PRINTS, LIBRARIES_CU, compile_c, compile_cu
from tests.real.repack import as_archive_of_13, download

# Packing takes a minute where nothing else runs.
pytestmark = [pytest.mark.network, pytest.mark.big, pytest.mark.timeout(1200)]

# No manifest that cvm ships knows these releases.
_TOOLKIT, _CUDNN = "13.0.77", "9.12.77"
_COMPONENTS = ("cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl", "libcurand")
_VERSIONS_C = r"""
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <curand.h>
#include <stdio.h>

int main(void) {
    int cudart = 0, curand = 0;
    cudaRuntimeGetVersion(&cudart);
    curandGetVersion(&curand);
    printf("cudart %d\ncurand %d\ncudnn %zu\n", cudart, curand, cudnnGetVersion());
    return 0;
}
"""
_CUT = 20_000_000


@pytest.fixture(scope="module")
def server(scratch, home):
    wheels, root = scratch / "wheels", scratch / "server"
    wheels.mkdir()
    for product, release, real, components, variant in (
        ("cuda", _TOOLKIT, "13.0.2", _COMPONENTS, ""),
        ("cudnn", _CUDNN, "9.12.0", ("cudnn",), "cuda13"),
    ):
        for key, wheel in download(product, real, components, "13.0.2", wheels, home.environment).items():
            members = as_archive_of_13(key, wheel.members())
            wheel.path.unlink()
            publish(root, product, release, {key: (wheel.version, members)}, variant=variant)
        folder = root / "compute" / product / "redist"
        (folder / "index.html").write_text(f'<a href="redistrib_{release}.json">redistrib_{release}.json</a>\n')
    with Server(root) as server:
        yield server


@pytest.fixture(scope="module")
def refreshed(home, server):
    home = Home(home.folder, {**home.environment, "CVM_REDIST_URL": f"{server.url}/compute/"})
    home.cvm("manifest", "refresh", "cuda", "cudnn")
    return home


@pytest.fixture(scope="module")
def installed(refreshed, server):
    (library,) = server.folder.rglob("libcurand-*.tar.xz")
    server.behave(str(library.relative_to(server.folder)), Behaviour(cut_after=_CUT, times=1))
    return refreshed.install(_TOOLKIT, "--with-cudnn", _CUDNN, "--source", "redist")


@pytest.fixture(scope="module")
def prefix(installed):
    return Path(installed["prefix"])


def test_a_release_that_only_the_server_knows_is_installed_from_archives(installed):
    assert installed["name"] == f"{_TOOLKIT}-cudnn9.12.0.46"
    assert {archive["component"] for archive in installed["archives"]} == {*_COMPONENTS, "cudnn"}
    assert {archive["source"] for archive in installed["archives"]} == {"redist"}


def test_an_archive_that_broke_off_went_on_where_it_stopped(installed, server):
    (path,) = (archive["filename"] for archive in installed["archives"] if archive["component"] == "libcurand")
    asked = [(r.status, r.range) for r in server.requests if r.path.endswith(path) and r.method == "GET"]

    assert asked == [(200, None), (206, f"bytes={_CUT}-")]


def test_a_program_built_against_it_reports_its_versions(prefix, tmp_path):
    printed = compile_c(_VERSIONS_C, prefix, tmp_path, "cudart", "curand", "cudnn")

    assert printed == "cudart 13000\ncurand 10400\ncudnn 91200\n"


def test_its_nvcc_compiles(prefix, tmp_path):
    assert compile_cu({"kernel.cu": KERNEL_CU}, prefix, tmp_path) in KERNEL_PRINTS
    assert compile_cu({"kernel.cu": KERNEL_CU}, prefix, tmp_path, "-dlto") in KERNEL_PRINTS
    assert compile_cu({"libraries.cu": LIBRARIES_CU}, prefix, tmp_path) == "1 2 3\n"


def test_every_file_is_as_it_was_recorded(refreshed, installed):
    (verified,) = json.loads(refreshed.cvm("verify", installed["name"], "--json"))["toolchains"]

    assert verified["changes"] == []
