"""Whole toolkits from the package index, oldest and newest: what is in them loads, links and is found."""

from pathlib import Path

import pytest

from tests.real.programs import cmake, load_all

pytestmark = [pytest.mark.network, pytest.mark.big]

# Libraries of the driver, and of network cards: no toolkit brings them.
_OUTSIDE = ("libcuda.so.1", "libnvidia-ml.so.1", "libibverbs.so.1", "librdmacm.so.1", "libmlx5.so.1")

_TARGETS = {
    "cudart": "cuda_runtime_api.h",
    "cublas": "cublas_v2.h",
    "cufft": "cufft.h",
    "curand": "curand.h",
    "cusparse": "cusparse.h",
    "cusolver": "cusolverDn.h",
    "nvrtc": "nvrtc.h",
    "nppc": "nppcore.h",
    "nvjpeg": "nvjpeg.h",
    "cuda_driver": "cuda.h",
    "nvml": "nvml.h",
    "cupti": "cupti.h",
}
_PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX CUDA)
find_package(CUDAToolkit 13.0 REQUIRED COMPONENTS cublas cufft curand cusparse cusolver nvrtc)
find_package(CCCL REQUIRED)
add_executable(program program.cu)
target_link_libraries(program CCCL::CCCL {" ".join(f"CUDA::{name}" for name in _TARGETS)})
target_link_options(program PRIVATE -Wl,--as-needed)
message(STATUS "toolkit ${{CUDAToolkit_VERSION}}")
"""
_PROGRAM = (
    "\n".join(f"#include <{header}>" for header in _TARGETS.values())
    + """
#include <cstdio>
#include <thrust/version.h>

int main() {
    int runtime = 0, cublas = 0, cufft = 0, curand = 0, major = 0, minor = 0, sparse = 0;
    cudaRuntimeGetVersion(&runtime);
    cublasGetVersion(nullptr, &cublas);
    cufftGetVersion(&cufft);
    curandGetVersion(&curand);
    nvrtcVersion(&major, &minor);
    cusparseGetProperty(MAJOR_VERSION, &sparse);
    std::printf("%d %d %d %d %d.%d %d\\n", runtime, cublas, cufft, curand, major, minor, sparse);
}
"""
)


def test_cmake_finds_every_library_of_13_0(home, tmp_path):
    toolchain = home.install("13.0.2", "--source", "pypi")

    printed = cmake(_PROJECT, {"program.cu": _PROGRAM}, Path(toolchain["prefix"]), tmp_path)

    assert printed == "13000 130100 12000 10400 13.0 12\n"
    home.clear()


@pytest.mark.parametrize(
    ("request_", "cublas", "cudnn"),
    [("11.8-cudnn8.6", 111103, 8600), ("12.9-cudnn9", None, None)],
)
def test_every_library_loads_without_a_driver(home, tmp_path, request_, cublas, cudnn):
    toolchain = home.install(request_, "--source", "pypi")
    versions = {archive["component"]: archive["version"] for archive in toolchain["archives"]}

    problems, found_cublas, found_cudnn = load_all(Path(toolchain["prefix"]), tmp_path)

    assert {name: why for name, why in problems.items() if why and not why.startswith(_OUTSIDE)} == {}
    assert {"libcublas.so", "libcudart.so", "libcudnn.so"} <= {name for name, why in problems.items() if not why}
    assert found_cublas == (0, cublas or _number(versions["libcublas"], 10000))
    assert found_cudnn == (cudnn or _number(versions["cudnn"], 10000))
    home.clear()


def _number(version: str, major: int) -> int:
    """Write a version the way NVIDIA's libraries report it: 9.28.0.42 is 92800."""
    first, second, third = map(int, version.split(".")[:3])
    return first * major + second * 100 + third
