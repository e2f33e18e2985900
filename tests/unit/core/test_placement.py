from __future__ import annotations

import pytest

from cvm.core.placement import choose_lib, placement
from cvm.core.version import Version
from cvm.errors import IncompatibleError

TOOLKIT = Version("12.1.1")


def placed(component, filename, *members, toolkit=TOOLKIT, platform="linux-x86_64"):
    where = placement(component, filename, members, toolkit, platform)
    return {member: where.file(member) for member in members}


@pytest.mark.parametrize(
    ("component", "member", "path"),
    [
        ("libcublas", "nvidia/cublas/lib/libcublas.so.12", "lib/libcublas.so.12"),
        ("libcublas", "nvidia/cu13/lib/libcublas.so.13", "lib/libcublas.so.13"),
        ("cuda_nvcc", "nvidia/cu13/bin/crt/link.stub", "bin/crt/link.stub"),
        ("cudnn", "nvidia/cudnn/include/cudnn.h", "include/cudnn.h"),
        ("libcutensor", "cutensor/include/cutensor/types.h", "include/cutensor/types.h"),
        ("libcutensor", "cutensor/LICENSE", "share/doc/libcutensor/LICENSE"),
        ("cusparselt", "nvidia/cusparselt/LICENSE.txt", "share/doc/cusparselt/LICENSE.txt"),
        ("cuda_nvcc", "nvidia_cuda_nvcc-13.0.88.dist-info/licenses/License.txt", "share/doc/cuda_nvcc/License.txt"),
        ("cuda_nvcc", "nvidia_cuda_nvcc_cu12-12.1.105.dist-info/License.txt", "share/doc/cuda_nvcc/License.txt"),
        ("cuda_nvcc", "nvidia_cuda_nvcc-13.0.88.dist-info/METADATA", None),
        ("cuda_nvcc", "nvidia_cuda_nvcc-13.0.88.dist-info/RECORD", None),
        ("cuda_cccl", "nvidia/cu13/.metadata/provenance.txt", None),
        ("cuda_nvcc", "nvidia/__init__.py", None),
        ("cuda_nvcc", "nvidia/cuda_nvcc/lib/__init__.py", None),
        ("cuda_nvcc", "nvidia/cuda_nvcc/__pycache__/x.pyc", None),
        ("cuda_cccl", "nvidia/cu13/cuda_cccl/lib/cmake/cub/cub-config.cmake", "lib/cmake/cub/cub-config.cmake"),
        ("cuda_cccl", "nvidia/cu13/cccl/lib/cmake/cub/cub-config.cmake", "lib/cmake/cub/cub-config.cmake"),
        ("libnvvm", "nvidia/cu13/bin/cicc", "nvvm/bin/cicc"),
        ("libnvvm", "nvidia/cu13/nvvm/bin/cicc", "nvvm/bin/cicc"),
        ("cuda_cccl", "nvidia/cu13/cccl/LICENSE", "share/doc/cuda_cccl/LICENSE"),
        ("cuda_cccl", "nvidia/cu13/include/cccl/cub/cub.cuh", "include/cccl/cub/cub.cuh"),
    ],
)
def test_a_wheel_loses_its_package_folders(component, member, path):
    assert placed(component, "x-py3-none-any.whl", member) == {member: path}


@pytest.mark.parametrize(
    ("component", "inner", "path"),
    [
        ("cuda_nvcc", "LICENSE", "share/doc/cuda_nvcc/LICENSE"),
        ("cuda_nvcc", "bin/nvcc", "bin/nvcc"),
        ("cuda_nvcc", "nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so"),
        ("cudnn", "lib64/libcudnn.so.8", "lib/libcudnn.so.8"),
        ("cuda_cudart", "pkg-config/cudart-12.1.pc", "lib/pkgconfig/cudart-12.1.pc"),
        ("cuda_cudart", "targets/x86_64-linux/lib/libcudart.so", "lib/libcudart.so"),
        ("cuda_cudart", "targets/sbsa-linux/lib/libcudart.so", "targets/sbsa-linux/lib/libcudart.so"),
        ("cuda_cupti", "extras/CUPTI/lib64/libcupti.so.12", "lib/libcupti.so.12"),
        ("cuda_cupti", "samples/a/a.cu", "extras/CUPTI/samples/a/a.cu"),
        ("cuda_sanitizer_api", "compute-sanitizer/include/sanitizer.h", "compute-sanitizer/include/sanitizer.h"),
        ("libcufile", "etc/cufile.json", "gds/cufile.json"),
        ("libcufile", "tools/gdscheck.py", "gds/tools/gdscheck.py"),
        ("libcufile", "man/man3/cuFileOpen.3", "share/man/man3/cuFileOpen.3"),
        (
            "nsight_compute",
            "nsight-compute/2023.1.1/extras/python/__init__.py",
            "nsight-compute/2023.1.1/extras/python/__init__.py",
        ),
        ("cuda", "version.json", "version.json"),
    ],
)
def test_an_archive_loses_its_one_folder(component, inner, path):
    members = [f"top-archive/{inner}", "top-archive/compute-sanitizer/x"]
    assert placed(component, "top-archive.tar.xz", *members)[members[0]] == path


def test_the_sanitizer_keeps_its_headers_apart_from_those_of_cupti():
    members = (
        "nvidia/cu13/include/generated_cuda_meta.h",
        "nvidia/cu13/bin/compute-sanitizer",
        "nvidia/cu13/lib/libsanitizer-public.so",
    )
    assert list(placed("cuda_sanitizer_api", "x.whl", *members).values()) == [
        "compute-sanitizer/include/generated_cuda_meta.h",
        "compute-sanitizer/compute-sanitizer",
        "compute-sanitizer/libsanitizer-public.so",
    ]


def test_a_newer_sanitizer_keeps_its_wrapper_in_bin():
    members = ("nvidia/cu13/bin/compute-sanitizer", "nvidia/cu13/compute-sanitizer/compute-sanitizer")
    assert list(placed("cuda_sanitizer_api", "x.whl", *members).values()) == [
        "bin/compute-sanitizer",
        "compute-sanitizer/compute-sanitizer",
    ]


def test_the_libraries_of_this_cuda_are_chosen_from_several():
    members = ("t/lib/11/libcutensor.so", "t/lib/12/libcutensor.so", "t/include/cutensor.h")
    assert list(placed("libcutensor", "t.tar.xz", *members).values()) == [
        None,
        "lib/libcutensor.so",
        "include/cutensor.h",
    ]


@pytest.mark.parametrize(
    ("toolkit", "chosen"), [("10.2", "10.2"), ("11.0", "11.0"), ("11.8", "11"), ("12.1.1", "12"), ("13.0", None)]
)
def test_a_folder_of_the_exact_minor_goes_before_that_of_the_major(toolkit, chosen):
    assert choose_lib({"10.2", "11", "11.0", "12"}, Version(toolkit)) == chosen


def test_libraries_for_other_cuda_versions_only_are_refused():
    with pytest.raises(IncompatibleError) as error:
        placed("libcutensor", "t.tar.xz", "t/lib/11/libcutensor.so", "t/LICENSE", toolkit=Version("13.0.2"))
    assert error.value.message == "t.tar.xz has libraries for CUDA 11, not for 13.0.2"


def test_links_that_an_installed_toolkit_has_anyway_are_left_to_the_repairs():
    where = placement("cuda", "t.tar.xz", ["t/lib64", "t/include", "t/bin/nvcc"], TOOLKIT, "linux-x86_64")
    assert [where.link(f"t/{name}") for name in ("lib64", "include", "targets/x86_64-linux/lib", "bin/nvcc")] == [
        None,
        None,
        None,
        "bin/nvcc",
    ]


def test_folders_move_like_their_files():
    where = placement("cudnn", "t.tar.xz", ["t/lib64/libcudnn.so", "t/include/x"], TOOLKIT, "linux-x86_64")
    assert where.folder("t/lib64") == "lib"
