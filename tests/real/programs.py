"""Small programs, and how to build and run them against a prefix."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.real.home import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VERSIONS_C = r"""
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <stdio.h>

int main(void) {
    int cudart = 0, cublas = 0;
    cudaRuntimeGetVersion(&cudart);
    cublasGetVersion(NULL, &cublas);
    printf("cudart %d\ncublas %d\ncudnn %zu\n", cudart, cublas, cudnnGetVersion());
    return 0;
}
"""

KERNEL_CU = r"""
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void add(int *out, int a, int b) { *out = a + b; }

int main() {
    std::vector<int> host(4, 10);
    std::printf("host %d\n", std::accumulate(host.begin(), host.end(), 2));
    int devices = 0;
    if (cudaError_t error = cudaGetDeviceCount(&devices)) {
        std::printf("no device %d\n", static_cast<int>(error));
        return 0;
    }
    int *out = nullptr, result = 0;
    cudaMalloc(&out, sizeof result);
    add<<<1, 1>>>(out, 40, 2);
    cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("device %d\n", result);
    return 0;
}
"""
# cudaErrorInsufficientDriver where there is no driver, cudaErrorNoDevice where there is one without a GPU.
KERNEL_PRINTS = ("host 42\nno device 35\n", "host 42\nno device 100\n", "host 42\ndevice 42\n")

# Device code in two files: it takes nvlink.
CALLER_CU = KERNEL_CU.replace(
    "__global__ void add(int *out, int a, int b) { *out = a + b; }",
    "__device__ int sum(int, int);\n__global__ void add(int *out, int a, int b) { *out = sum(a, b); }",
)
CALLED_CU = "__device__ int sum(int a, int b) { return a + b; }\n"

LIBRARIES_CU = r"""
#include <cstdio>
#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cuda/std/array>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>

__global__ void total(const int *in, int *out) {
    using Reduce = cub::BlockReduce<int, 32>;
    __shared__ typename Reduce::TempStorage storage;
    int sum = Reduce(storage).Sum(in[threadIdx.x]);
    if (cooperative_groups::this_thread_block().thread_rank() == 0) *out = sum;
}

void sort_on_device(thrust::device_vector<int> &values) { thrust::sort(values.begin(), values.end()); }

int main() {
    thrust::host_vector<int> values(3);
    values[0] = 3, values[1] = 1, values[2] = 2;
    thrust::sort(values.begin(), values.end());
    cuda::std::array<int, 3> sorted{values[0], values[1], values[2]};
    std::printf("%d %d %d\n", sorted[0], sorted[1], sorted[2]);
}
"""

_LOADER = r"""
import ctypes, json, pathlib, sys
problems = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("lib*.so")):
    try:
        ctypes.CDLL(str(path))
        problems[path.name] = ""
    except OSError as error:
        problems[path.name] = str(error)
cublas, cudnn = (ctypes.CDLL(name) for name in ("libcublas.so", "libcudnn.so"))
version = ctypes.c_int()
status = cublas.cublasGetVersion_v2(None, ctypes.byref(version))
cudnn.cudnnGetVersion.restype = ctypes.c_size_t
print(json.dumps([problems, [status, version.value], cudnn.cudnnGetVersion()]))
"""


def compile_c(source: str, prefix: Path, folder: Path, *libraries: str) -> str:
    """Compile a C program against a prefix, run it, and return what it prints."""
    need("gcc")
    (folder / "program.c").write_text(source)
    flags = [f"-I{prefix}/include", f"-L{prefix}/lib64", f"-Wl,-rpath,{prefix}/lib64"]
    run(["gcc", "program.c", "-o", "program", *flags, *(f"-l{name}" for name in libraries)], _plain(folder), folder)
    return run([f"{folder}/program"], _plain(folder), folder)


def compile_cu(sources: Mapping[str, str], prefix: Path, folder: Path, *flags: str) -> str:
    """Compile CUDA sources with the nvcc of a prefix, run the program, and return what it prints."""
    need("g++")
    for name, source in sources.items():
        (folder / name).write_text(source)
    command = [f"{prefix}/bin/nvcc", "-arch=sm_80", *flags, *sources, "-o", "program"]
    run(command, _plain(folder), folder)
    return run([f"{folder}/program"], {**_plain(folder), "LD_LIBRARY_PATH": f"{prefix}/lib64"}, folder)


def run_tool(prefix: Path, folder: Path, tool: str, *arguments: str) -> str:
    """Run a tool of a prefix by its path alone; returns what it prints."""
    return run([f"{prefix}/bin/{tool}", *arguments], _plain(folder), folder)


def cmake(project: str, sources: Mapping[str, str], prefix: Path, folder: Path) -> str:
    """Configure and build a CMake project with a prefix, run its `program`, and return what that prints."""
    need("cmake", "g++", "make")
    (folder / "CMakeLists.txt").write_text(project)
    for name, source in sources.items():
        (folder / name).write_text(source)
    environment = {**_plain(folder), "CUDAToolkit_ROOT": str(prefix), "CUDACXX": f"{prefix}/bin/nvcc"}
    # CMake looks for packages such as CCCL beside each `bin` on PATH.
    environment["PATH"] = f"{prefix}/bin:{environment['PATH']}"
    run(["cmake", "-S.", "-Bbuild", "-DCMAKE_CUDA_ARCHITECTURES=80"], environment, folder)
    run(["cmake", "--build", "build"], environment, folder)
    return run([f"{folder}/build/program"], _plain(folder), folder)


def load_all(prefix: Path, folder: Path) -> tuple[dict[str, str], tuple[int, int], int]:
    """Load every library of a prefix in a process of its own.

    Returns the loader's complaint of each (empty for none), status and value of cublasGetVersion, and cuDNN's version.
    """
    environment = {**_plain(folder), "LD_LIBRARY_PATH": f"{prefix}/lib64"}
    problems, cublas, cudnn = json.loads(run([sys.executable, "-c", _LOADER, f"{prefix}/lib"], environment, folder))
    return problems, tuple(cublas), cudnn


def host_compiler(newest: int) -> str:
    """Find a g++ that an nvcc takes: none newer than a major version; skips the test where there is none."""
    for name in (f"g++-{newest}", f"g++-{newest - 1}", f"g++-{newest - 2}", "g++"):
        path = shutil.which(name)
        if path and int(re.split(r"\D", _output(path, "-dumpversion"))[0]) <= newest:
            return path
    pytest.skip(f"no g++ {newest} or older here")


def need(*programs: str) -> None:
    """Skip the test where a program is missing."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"no {program} on PATH")


def _plain(folder: Path) -> dict[str, str]:
    """Nothing that could lead a compiler or the loader to another toolkit."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C"}


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
