"""Projects built through the shims, with NVIDIA's real nvcc: `.cuda-version` alone decides which one compiles."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.real.home import Home, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.network

_COMPONENTS = ("cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl")
# What nvcc of each release says of itself.
_BUILDS = {"13.0.2": "13.0.88", "13.1.1": "13.1.115"}

_SOURCE = r"""
#include <cstdio>
__global__ void nothing() {}
int main() { std::printf("%d.%d.%d\n", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__); }
"""
_CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(probe LANGUAGES CXX CUDA)
find_package(CUDAToolkit 13.0 REQUIRED)
message(STATUS "root: ${CUDAToolkit_LIBRARY_ROOT}${CUDAToolkit_TARGET_DIR}")
add_executable(program main.cu)
target_link_libraries(program CUDA::cudart)
"""
_MAKE = "program: main.cu\n\tnvcc -o $@ main.cu\n"


@pytest.fixture(scope="module")
def both(home: Home) -> Home:
    """A home with two releases that have a compiler."""
    for version in _BUILDS:
        chosen = [word for name in _COMPONENTS for word in ("--component", name)]
        home.install(version, "--source", "pypi", *chosen)
    return home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in (("main.cu", _SOURCE), ("CMakeLists.txt", _CMAKE), ("Makefile", _MAKE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def environment(home: Home) -> Mapping[str, str]:
    """The shims on PATH, and no other word of CUDA."""
    return {**home.environment, "PATH": f"{home.folder}/shims:/usr/local/bin:/usr/bin:/bin"}


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_a_makefile_takes_the_compiler_of_the_folder(both: Home, project: Path) -> None:
    for version, build in _BUILDS.items():
        (project / ".cuda-version").write_text(f"{version}\n")
        run(["make", "--always-make"], environment(both), project)
        assert run(["./program"], environment(both), project) == f"{build}\n"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_takes_the_toolkit_of_the_folder(both: Home, project: Path) -> None:
    for version, build in _BUILDS.items():
        (project / ".cuda-version").write_text(f"{version}\n")
        folder = project / f"build {version}"
        said = run(["cmake", "-S", str(project), "-B", str(folder)], environment(both), project)
        assert f"toolchains/{version}" in said
        run(["cmake", "--build", str(folder)], environment(both), project)
        assert run([str(folder / "program")], environment(both), project) == f"{build}\n"


def test_exec_gives_a_build_the_whole_environment(both: Home, project: Path) -> None:
    for version, build in _BUILDS.items():
        both.cvm("exec", version, "--", "sh", "-c", f"cd '{project}' && make --always-make")
        assert run(["./program"], environment(both), project) == f"{build}\n"
