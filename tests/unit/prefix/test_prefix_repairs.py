from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from cvm.core.version import Version
from cvm.prefix.parts import PrefixFacts
from cvm.prefix.repairs.edit import make_folder, make_link, write_file
from cvm.prefix.repairs.folders import cupti_folders, lib64_link, pkg_config_links, targets_links
from cvm.prefix.repairs.gaps import missing_parts
from cvm.prefix.repairs.libraries import cudnn_exact_links, development_links, nvvm_links
from cvm.prefix.repairs.pkgconfig import pc_files, pc_roots, pc_unversioned_links, relative
from cvm.prefix.repairs.stubs import driver_functions, driver_stub, nvml_stub
from cvm.prefix.repairs.tools import nsight_templates, nvcc_profile, tool_wrappers
from cvm.prefix.repairs.versions import eula_link, version_json

FACTS = PrefixFacts(Version("12.1.1"), "linux-x86_64", (("cuda_nvcc", "CUDA NVCC", "12.1.105"),))


def tree(root, *files, **contents):
    """Make empty files, and some with content: keys are paths with `__` for `/`."""
    for path in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    for path, content in contents.items():
        file = root / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


def links(root):
    return {str(path.relative_to(root)): str(path.readlink()) for path in root.rglob("*") if path.is_symlink()}


def twice(step, root, facts=FACTS):
    """Run a step and, again, see that it has nothing left to do."""
    did = step(root, facts)
    assert step(root, facts) == ()
    return did


def test_lib64_leads_to_lib(tmp_path):
    assert twice(lib64_link, tree(tmp_path, "lib/a")) == ("lib64 -> lib",)
    assert links(tmp_path) == {"lib64": "lib"}


def test_a_lib64_that_is_there_stays(tmp_path):
    assert lib64_link(tree(tmp_path, "lib/a", "lib64/b"), FACTS) == ()


@pytest.mark.parametrize(("platform", "triple"), [("linux-x86_64", "x86_64-linux"), ("linux-sbsa", "sbsa-linux")])
def test_targets_has_the_name_of_the_platform(tmp_path, platform, triple):
    twice(targets_links, tree(tmp_path, "lib/a", "include/b"), PrefixFacts(Version("12.1"), platform))
    assert links(tmp_path) == {f"targets/{triple}/include": "../../include", f"targets/{triple}/lib": "../../lib"}


def test_no_empty_targets_is_made(tmp_path):
    assert targets_links(tmp_path, FACTS) == ()
    assert list(tmp_path.iterdir()) == []


def test_cupti_is_in_extras_as_well(tmp_path):
    assert cupti_folders(tmp_path, FACTS) == ()
    twice(cupti_folders, tree(tmp_path, "include/cupti.h", "lib/libcupti.so.12"))
    assert (tmp_path / "extras/CUPTI/lib64/libcupti.so.12").exists()
    assert (tmp_path / "extras/CUPTI/include/cupti.h").exists()


def test_pkg_config_has_the_names_of_archive_and_installer(tmp_path):
    assert pkg_config_links(tmp_path, FACTS) == ()
    twice(pkg_config_links, tree(tmp_path, "lib/pkgconfig/cuda.pc"))
    assert links(tmp_path) == {"pkg-config": "lib/pkgconfig", "pkgconfig": "lib/pkgconfig"}


def test_wheels_get_the_names_that_a_linker_asks_for(tmp_path):
    tree(
        tmp_path,
        "lib/libcublas.so.12",
        "lib/libnvrtc-builtins.so.12.1",
        "lib/libnvrtc.alt.so.13",
        "lib/libcheckpoint.so",
    )
    assert twice(development_links, tmp_path) == ("3 names, such as lib/libcublas.so",)
    assert links(tmp_path) == {
        "lib/libcublas.so": "libcublas.so.12",
        "lib/libnvrtc-builtins.so": "libnvrtc-builtins.so.12.1",
        "lib/libnvrtc.alt.so": "libnvrtc.alt.so.13",
    }


def test_a_library_without_any_link_gets_both_names(tmp_path):
    twice(development_links, tree(tmp_path, "lib/libcudart.so.12.1.105"))
    assert links(tmp_path) == {"lib/libcudart.so": "libcudart.so.12", "lib/libcudart.so.12": "libcudart.so.12.1.105"}


def test_the_newest_version_is_linked_by_number_not_by_text(tmp_path):
    twice(development_links, tree(tmp_path, "lib/libx.so.9", "lib/libx.so.10"))
    assert links(tmp_path) == {"lib/libx.so": "libx.so.10"}


def test_a_soname_that_does_not_begin_the_version_is_kept(tmp_path):
    twice(development_links, tree(tmp_path, "lib/libcufile.so.0", "lib/libcufile.so.1.6.1"))
    assert links(tmp_path) == {"lib/libcufile.so": "libcufile.so.0"}


def test_a_name_that_is_there_is_never_replaced(tmp_path):
    tree(tmp_path, "lib/libx.so", "lib/libx.so.1")
    assert development_links(tmp_path, FACTS) == ()


def test_cudnn_9_finds_its_own_libraries_first(tmp_path):
    header = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 13\n#define CUDNN_PATCHLEVEL 1\n"
    tree(tmp_path, "lib/libcudnn.so.9", "lib/libcudnn_ops.so.9", include__cudnn_version_h=header)
    (tmp_path / "include/cudnn_version_h").rename(tmp_path / "include/cudnn_version.h")
    assert twice(cudnn_exact_links, tmp_path) == ("2 names, such as lib/libcudnn.so.9.13.1",)
    assert links(tmp_path) == {
        "lib/libcudnn.so.9.13.1": "libcudnn.so.9",
        "lib/libcudnn_ops.so.9.13.1": "libcudnn_ops.so.9",
    }


def test_nvvm_of_13_is_linked_to_where_nvlink_loads_it(tmp_path):
    twice(nvvm_links, tree(tmp_path, "lib/libnvvm.so.4", "include/nvvm.h"))
    assert links(tmp_path) == {
        "nvvm/lib64/libnvvm.so.4": "../../lib/libnvvm.so.4",
        "nvvm/lib64/libnvvm.so": "libnvvm.so.4",
        "nvvm/include/nvvm.h": "../../include/nvvm.h",
    }
    assert (tmp_path / "nvvm/lib64/libnvvm.so").exists()


def test_nvvm_of_12_gets_its_soname(tmp_path):
    twice(nvvm_links, tree(tmp_path, "nvvm/lib64/libnvvm.so"))
    assert links(tmp_path) == {"nvvm/lib64/libnvvm.so.4": "libnvvm.so"}


def test_the_functions_of_the_driver_come_with_the_variants_that_macros_make():
    header = """
    #define cuMemAlloc                          cuMemAlloc_v2
    #define cuMemcpy                            __CUDA_API_PTDS(cuMemcpy)
    #define cuMemcpyHtoDAsync                   __CUDA_API_PTSZ(cuMemcpyHtoDAsync_v2)
    CUresult CUDAAPI cuInit(unsigned int Flags);
    CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize);
    typedef CUresult (CUDAAPI *PFN_cuInit)(unsigned int Flags);
    """
    assert driver_functions(header) == [
        "cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemcpy", "cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpy_ptds",
    ]  # fmt: skip


def test_stubs_are_made_from_headers(tmp_path):
    tree(
        tmp_path,
        include__cuda="CUresult CUDAAPI cuInit(unsigned);",
        include__nvml="nvmlReturn_t DECLDIR nvmlInit_v2(void);",
    )
    for name in ("cuda", "nvml"):
        (tmp_path / "include" / name).rename(tmp_path / f"include/{name}.h")
    assert twice(driver_stub, tmp_path) == ("lib/stubs/libcuda.so with 1 functions, made from the headers",)
    assert twice(nvml_stub, tmp_path) == ("lib/stubs/libnvidia-ml.so with 1 functions, made from the headers",)
    assert sorted(path.name for path in (tmp_path / "lib/stubs").iterdir()) == ["libcuda.so", "libnvidia-ml.so"]


def test_a_real_stub_is_kept_and_no_stub_is_made_for_a_foreign_machine(tmp_path):
    tree(tmp_path, "include/cuda.h")
    (tmp_path / "include/cuda.h").write_text("CUresult CUDAAPI cuInit(unsigned);")
    assert driver_stub(tmp_path, PrefixFacts(Version("12.1"), "linux-ppc64le")) == ()
    tree(tmp_path, "lib/stubs/libcuda.so")
    assert driver_stub(tmp_path, FACTS) == ()


def test_tools_in_their_own_trees_get_a_name_in_bin(tmp_path):
    tool = tree(tmp_path / "a b", "nsight-compute/2023.1.1/ncu") / "nsight-compute/2023.1.1/ncu"
    tool.write_text('#!/bin/sh\necho "ncu $1"\n')
    tool.chmod(0o755)
    assert twice(tool_wrappers, tmp_path / "a b") == ("bin/ncu",)
    (tmp_path / "link").symlink_to(tmp_path / "a b/bin/ncu")
    assert subprocess.run([tmp_path / "link", "x y"], capture_output=True, text=True, check=True).stdout == "ncu x y\n"


def test_the_placeholders_of_nsys_are_filled_in(tmp_path):
    tree(tmp_path, "nsight-systems/2023.1.2/bin/nsys", "bin/nsys")
    (tmp_path / "bin/nsys").write_text(
        "exec ../nsight-systems-#VERSION_RSPLIT#/bin/nsys # #VERSION_RSPLIT# #CUDA_MAJOR#.#CUDA_MINOR#\n"
    )
    assert twice(nsight_templates, tmp_path) == ("bin/nsys",)
    assert (tmp_path / "bin/nsys").read_text() == "exec ../nsight-systems/2023.1.2/bin/nsys # 2023.1.2 12.1\n"


def test_placeholders_stay_where_the_tree_is_not_installed(tmp_path):
    tree(tmp_path, "bin/nsys").joinpath("bin/nsys").write_text("nsight-systems-#VERSION_RSPLIT#")
    assert nsight_templates(tmp_path, FACTS) == ()


def test_an_nvcc_without_profile_gets_one(tmp_path):
    assert nvcc_profile(tmp_path, FACTS) == ()
    assert twice(nvcc_profile, tree(tmp_path, "bin/nvcc")) == ("bin/nvcc.profile",)
    profile = (tmp_path / "bin/nvcc.profile").read_text()
    assert "CICC_PATH        = $(TOP)/nvvm/bin\n" in profile
    assert "SYSTEM_INCLUDES" not in profile


def test_pc_files_find_the_prefix_from_where_they_are():
    pc = "cudaroot=/usr/local/cuda-12.1\nlibdir=${cudaroot}/targets/x86_64-linux/lib\nincludedir=/x/include\n\nName: cuda\nLibs: -L${libdir} -lcuda\n"
    assert relative(pc) == (
        "cudaroot=${pcfiledir}/../..\nlibdir=${cudaroot}/lib\nincludedir=${cudaroot}/include\n\nName: cuda\nLibs: -L${libdir} -lcuda\n"
    )
    assert (
        relative("prefix = /usr/local\nlibdir = ${prefix}/lib\n") == "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n"
    )
    assert relative("Name: x\n") == "Name: x\n"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_pkg_config_answers_for_wheels(tmp_path):
    root = tree(tmp_path / "a b", "lib/libcudart.so", "lib/stubs/libcuda.so", "include/cuda.h")
    assert twice(pc_files, root) == ("made for cuda, cudart",)
    assert twice(pc_unversioned_links, root) == ("2 names, such as cuda.pc",)
    assert pc_roots(root, FACTS) == ()
    run = subprocess.run(
        ["pkg-config", "--variable=libdir", "cudart", "cuda-12.1"],
        env={**os.environ, "PKG_CONFIG_PATH": f"{root}/lib/pkgconfig"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.replace("\\", "").split(" /")[0].rstrip() == f"{root}/lib/pkgconfig/../../lib"


def test_version_json_names_toolkit_and_components(tmp_path):
    assert twice(version_json, tmp_path) == ("version.json",)
    assert json.loads((tmp_path / "version.json").read_text()) == {
        "cuda": {"name": "CUDA SDK", "version": "12.1.1"},
        "cuda_nvcc": {"name": "CUDA NVCC", "version": "12.1.105"},
    }


def test_the_eula_is_at_the_top(tmp_path):
    assert eula_link(tmp_path, FACTS) == ()
    assert twice(eula_link, tree(tmp_path, "share/doc/cuda_cudart/LICENSE")) == ("EULA.txt",)
    assert links(tmp_path) == {"EULA.txt": "share/doc/cuda_cudart/LICENSE"}


def test_what_wheels_lack_is_named(tmp_path):
    tree(tmp_path, "bin/ptxas", "include/cuda_runtime_api.h")
    assert missing_parts(tmp_path, FACTS) == (
        "no nvcc: the wheels of CUDA before 13 hold none",
        "no static runtime: link with -cudart shared",
        "no libcudadevrt.a: no device code that launches kernels",
    )
    assert missing_parts(tree(tmp_path, "bin/nvcc", "lib/libcudart_static.a", "lib/libcudadevrt.a"), FACTS) == ()


def test_a_file_is_replaced_and_the_other_link_to_it_keeps_its_content(tmp_path):
    (tmp_path / "store").write_text("old")
    os.link(tmp_path / "store", tmp_path / "file")
    assert write_file(tmp_path, "file", b"new", 0o555)
    assert not write_file(tmp_path, "file", b"new", 0o555)
    assert ((tmp_path / "store").read_text(), (tmp_path / "file").read_text()) == ("old", "new")


def test_a_dangling_link_counts_as_something(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    assert not make_link(tmp_path, "link", "elsewhere")


def test_folders_are_made_readable(tmp_path):
    old = os.umask(0o077)
    try:
        make_folder(tmp_path / "a/b")
    finally:
        os.umask(old)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o755, 0o755]
