"""The compiler of CUDA 13, from the package index: NVIDIA's real nvcc in a prefix that cvm made."""

from pathlib import Path

import pytest

from tests.real.programs import (
    CALLED_CU,
    CALLER_CU,
    KERNEL_CU,
    KERNEL_PRINTS,
    LIBRARIES_CU,
    cmake,
    compile_cu,
)

pytestmark = pytest.mark.network

_COMPONENTS = ("cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl")
_PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(probe LANGUAGES CXX)
enable_language(CUDA)
find_package(CUDAToolkit 13.0 REQUIRED)
find_package(CCCL REQUIRED)
add_executable(program kernel.cu)
target_link_libraries(program CUDA::cudart CUDA::cuda_driver)
target_link_options(program PRIVATE -Wl,--as-needed)
"""


@pytest.fixture(scope="module")
def prefix(home):
    chosen = [argument for name in _COMPONENTS for argument in ("--component", name)]
    return Path(home.install("13.0.2", "--source", "pypi", *chosen)["prefix"])


def test_nvcc_compiles_kernel_and_host_code_that_runs(prefix, tmp_path):
    assert compile_cu({"kernel.cu": KERNEL_CU}, prefix, tmp_path) in KERNEL_PRINTS


def test_the_program_runs_with_the_shared_runtime(prefix, tmp_path):
    assert compile_cu({"kernel.cu": KERNEL_CU}, prefix, tmp_path, "-cudart", "shared") in KERNEL_PRINTS


def test_device_code_in_two_files_is_linked(prefix, tmp_path):
    sources = {"caller.cu": CALLER_CU, "called.cu": CALLED_CU}

    assert compile_cu(sources, prefix, tmp_path, "-rdc=true") in KERNEL_PRINTS


def test_device_code_is_linked_with_optimisation_by_the_nvvm_of_the_prefix(prefix, tmp_path):
    sources = {"caller.cu": CALLER_CU, "called.cu": CALLED_CU}

    assert compile_cu(sources, prefix, tmp_path, "-dlto") in KERNEL_PRINTS


def test_thrust_cub_and_the_standard_library_compile(prefix, tmp_path):
    assert compile_cu({"libraries.cu": LIBRARIES_CU}, prefix, tmp_path) == "1 2 3\n"


def test_cmake_finds_the_toolkit_and_its_compiler(prefix, tmp_path):
    assert cmake(_PROJECT, {"kernel.cu": KERNEL_CU}, prefix, tmp_path) in KERNEL_PRINTS


def test_a_prefix_that_was_moved_to_a_path_with_spaces_still_compiles(prefix, scratch, tmp_path):
    moved = scratch / "my toolkits" / "CUDA 13"
    moved.parent.mkdir()
    prefix.rename(moved)
    try:
        printed = compile_cu({"kernel.cu": KERNEL_CU}, moved, tmp_path)
    finally:
        moved.rename(prefix)

    assert printed in KERNEL_PRINTS
