"""Tiny toolkits: the files of each component as NVIDIA lays them out, small enough to read.

`nvcc` is a shell script that prints its version, the headers hold the version macros, and the libraries
are real (if empty) shared objects, so that linkers and loaders take them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.prefix.stub import X86_64, stub_library

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, or a link when it has a target."""

    data: bytes = b""
    mode: int = 0o644
    target: str = ""


Members = dict[str, Member]


def text(content: str) -> Member:
    return Member(content.encode())


def script(content: str) -> Member:
    return Member(("#!/bin/sh\n" + content).encode(), 0o755)


def library(soname: str, *functions: str, value: int = 0) -> Member:
    """A shared object with a soname and functions that return a number."""
    return Member(stub_library(soname, functions or ("probe",), X86_64, value), 0o755)


def with_links(name: str, version: str, *functions: str) -> Members:
    """A library the way archives have it: `libX.so -> libX.so.12 -> libX.so.12.1.3.1`."""
    major = version.split(".", maxsplit=1)[0]
    return {
        f"lib/{name}.so": Member(target=f"{name}.so.{major}"),
        f"lib/{name}.so.{major}": Member(target=f"{name}.so.{version}"),
        f"lib/{name}.so.{version}": library(f"{name}.so.{major}", *functions),
    }


def toolkit(version: str) -> dict[str, tuple[str, Members]]:
    """The components of a toolkit in the layout inside an archive: key -> (version, files)."""
    major, minor, patch = (int(part) for part in version.split("."))
    build = f"{major}.{minor}.{100 + patch}"
    return {
        "cuda_cudart": (build, _cudart(major, minor, build)),
        "cuda_nvcc": (build, _nvcc(major, minor, build)),
        "cuda_cupti": (build, {"include/cupti.h": text(""), "include/generated_cuda_meta.h": text("cupti"), **with_links("libcupti", build)}),
        "cuda_sanitizer_api": (
            build,
            {
                "compute-sanitizer/compute-sanitizer": script(f"echo sanitizer {build}\n"),
                "compute-sanitizer/TreeLauncherSubreaper": script(""),
                "compute-sanitizer/include/generated_cuda_meta.h": text("sanitizer"),
            },
        ),
        "libcublas": (
            f"{build}.1",
            {
                "include/cublas_v2.h": text(""),
                "lib/libcublas_static.a": Member(b"!<arch>\n"),
                "pkg-config/" + f"cublas-{major}.{minor}.pc": text(_pc("cublas", f"{major}.{minor}")),
                **with_links("libcublas", f"{build}.1", "cublasGetVersion"),
            },
        ),
    }  # fmt: skip


def cudnn(full: str) -> Members:
    """The files of cuDNN in the layout inside an archive."""
    numbers = full.split(".")
    names = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
    patch = ".".join(numbers[:3])
    return {
        "include/cudnn_version.h": text("".join(f"#define {n} {v}\n" for n, v in zip(names, numbers[:3], strict=True))),
        **with_links("libcudnn", patch, "cudnnGetVersion"),
        **with_links("libcudnn_ops", patch),
    }


def nccl(version: str) -> Members:
    """The files of NCCL in the layout inside an archive."""
    names = ("NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH")
    numbers = version.split(".")
    return {
        "include/nccl.h": text("".join(f"#define {n} {v}\n" for n, v in zip(names, numbers, strict=True))),
        **with_links("libnccl", version, "ncclGetVersion"),
    }


def write_tree(members: Mapping[str, Member], target: Path) -> Path:
    """Write files to a folder: a toolkit that somebody else installed."""
    for path, member in members.items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if member.target:
            file.symlink_to(member.target)
        else:
            file.write_bytes(member.data)
            file.chmod(member.mode)
    return target


def merged(version: str) -> Members:
    """All components of a toolkit in one tree."""
    return {path: member for _, members in toolkit(version).values() for path, member in members.items()}


def _cudart(major: int, minor: int, build: str) -> Members:
    number = major * 1000 + minor * 10
    return {
        "include/cuda.h": text(
            f"#define CUDA_VERSION {number}\n#define cuMemAlloc cuMemAlloc_v2\n"
            "CUresult CUDAAPI cuInit(unsigned int Flags);\nCUresult CUDAAPI cuMemAlloc(CUdeviceptr *d, size_t n);\n"
        ),
        "include/cuda_runtime_api.h": text(f"#define CUDART_VERSION  {number}\n"),
        "lib/libcudart_static.a": Member(b"!<arch>\n"),
        "lib/libcudadevrt.a": Member(b"!<arch>\n"),
        "lib/stubs/libcuda.so": library("libcuda.so.1", "cuInit", value=34),
        f"pkg-config/cudart-{major}.{minor}.pc": text(_pc("cudart", f"{major}.{minor}")),
        f"pkg-config/cuda-{major}.{minor}.pc": text(_pc("cuda", f"{major}.{minor}")),
        **with_links("libcudart", build, "cudaRuntimeGetVersion"),
    }


def _nvcc(major: int, minor: int, build: str) -> Members:
    # The real one finds its headers beside itself, without resolving links.
    nvcc = f'echo "Cuda compilation tools, release {major}.{minor}, V{build}"\ntest -e "${{0%/*}}/nvcc.profile" || exit 1\n'
    return {
        "bin/nvcc": script(nvcc),
        "bin/nvcc.profile": text("TOP = $(_HERE_)/..\n"),
        "bin/ptxas": script(f"echo ptxas V{build}\n"),
        "include/crt/host_config.h": text(""),
        "include/nvfunctional": text(""),
        "nvvm/bin/cicc": script(""),
        "nvvm/libdevice/libdevice.10.bc": Member(b"BC"),
        "nvvm/lib64/libnvvm.so": Member(target="libnvvm.so.4"),
        "nvvm/lib64/libnvvm.so.4": Member(target="libnvvm.so.4.0.0"),
        "nvvm/lib64/libnvvm.so.4.0.0": library("libnvvm.so.4"),
    }


def _pc(name: str, version: str) -> str:
    return (
        f"cudaroot=/usr/local/cuda-{version}\nlibdir=${{cudaroot}}/targets/x86_64-linux/lib\n"
        f"includedir=${{cudaroot}}/targets/x86_64-linux/include\n\nName: {name}\nDescription: {name}\nVersion: {version}\n"
        f"Libs: -L${{libdir}} -l{name}\nCflags: -I${{includedir}}\n"
    )
