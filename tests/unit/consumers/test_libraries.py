"""CUDA libraries on disk: families, versions, owners, builds, and others of the same name."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cvm.consumers.families import family_of, stem
from cvm.consumers.libraries import Libraries, elsewhere
from cvm.consumers.record import libraries as listed
from cvm.elf.files import Disk
from tests.unit.consumers.stand_ins import record


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("libcublas.so.12", "cublas"),
        ("/x/libcublasLt.so.12.4.5.8", "cublas"),
        ("libnvblas.so", "cublas"),
        ("libcudart-e8e8b82a.so.12", "cudart"),
        ("libcudart.e8e8b82a.so.12", "cudart"),
        ("libcudnn_engines_precompiled.so.9", "cudnn"),
        ("libcusolverMg.so.11", "cusolver"),
        ("libcusparse.so.12", "cusparse"),
        ("libcusparseLt.so.0", "cusparselt"),
        ("libnvrtc-builtins.so.12.4", "nvrtc"),
        ("libnvrtc-builtins.alt.so.12.9", "nvrtc"),
        ("libnvJitLink.so.12", "nvjitlink"),
        ("libnvToolsExt.so.1", "nvtx"),
        ("libnvinfer_plugin.so.10", "tensorrt"),
        ("libcuda.so.1", "driver"),
        ("libnvidia-ml.so.1", "driver"),
        ("libnppig.so.12", "npp"),
        ("libc.so.6", None),
        ("libcudf.so", None),
        ("libtorch_cuda.so", None),
        ("libcublas.a", None),
    ],
)
def test_a_name_has_a_family(name, family):
    assert family_of(name) == family


def test_the_stem_is_the_same_for_every_version():
    assert {stem(name) for name in ("libcublas.so", "libcublas.so.11", "/x/libcublas.so.12.1")} == {"libcublas.so"}


def test_a_record_lists_libraries_and_nothing_else(site):
    names = ["torch/lib/libtorch.so", "torch/_C.cpython-311.so", "nvidia/libcublas.so.12", "a/b.so.py", "a/x.solve"]
    distribution = record(site, "torch", names, sizes={"torch/lib/libtorch.so": 12})
    assert listed(distribution, site.session().world.files) == {
        f"{site.folder}/nvidia/libcublas.so.12": None,
        f"{site.folder}/torch/_C.cpython-311.so": None,
        f"{site.folder}/torch/lib/libtorch.so": 12,
    }


def describe(site, path, *distributions):
    return Libraries(site.session(*distributions).world).describe(str(site.folder / path))


def test_a_wheel_owns_a_file_of_the_size_that_it_recorded(site):
    """Two wheels write one path: the file is of the one that was installed last."""
    path = "nvidia/nccl/lib/libnccl.so.2"
    file = site.lib(path, "int x;", soname="libnccl.so.2")
    size = Path(file).stat().st_size
    other = record(site, "nvidia-nccl-cu11", [path], "2.18.3", {path: size + 1})
    owner = record(site, "nvidia-nccl-cu12", [path], "2.21.5", {path: size})
    found = describe(site, path, other, owner)
    assert (found.owner, found.version, found.soname) == ("nvidia-nccl-cu12 2.21.5", "2.21.5", "libnccl.so.2")


def test_a_file_of_another_size_has_not_the_version_of_its_owner(site):
    path = "nvidia/nccl/lib/libnccl.so.2"
    site.lib(path, "int x;")
    owner = record(site, "nvidia-nccl-cu12", [path], "2.21.5", {path: 1})
    found = describe(site, path, owner)
    assert (found.owner, found.version) == ("nvidia-nccl-cu12 2.21.5", None)


def test_what_another_package_bundles_has_not_that_packages_version(site):
    path = "torch/lib/libcudart-e8e8b82a.so.12"
    site.lib(path, "int x;")
    found = describe(site, path, record(site, "torch", [path], "2.5.1"))
    assert (found.owner, found.version) == ("torch 2.5.1", None)


def test_a_toolchain_of_cvm_owns_what_is_below_its_receipt(site):
    site.lib("12.1.1/lib64/libcublas.so.12", "int x;")
    component = {"product": "cuda", "component": "libcublas", "version": "12.1.3.1"}
    receipt = {"schema": 1, "name": "12.1.1", "kind": "installed", "toolkit": "12.1.1", "components": [component]}
    site.write("12.1.1/.cvm/receipt.json", json.dumps(receipt))
    found = describe(site, "12.1.1/lib64/libcublas.so.12")
    assert (found.owner, found.version) == ("cvm toolchain 12.1.1", "12.1.3.1")


def test_conda_owns_what_its_documents_list(site):
    site.lib("env/lib/libcublas.so.12.4.5.8", "int x;")
    document = {"name": "libcublas", "version": "12.4.5.8", "files": ["lib/libcublas.so.12.4.5.8"]}
    site.write("env/conda-meta/libcublas-12.4.5.8-0.json", json.dumps(document))
    assert describe(site, "env/lib/libcublas.so.12.4.5.8").owner == "conda package libcublas 12.4.5.8"


def test_a_toolkit_of_nvidias_installer_lists_the_versions_of_its_parts(site):
    site.lib("cuda-12.1/lib64/libcublas.so.12", "int x;")
    parts = {"cuda": {"version": "12.1.1"}, "libcublas": {"version": "12.1.3.1"}, "nsight": None}
    site.write("cuda-12.1/version.json", json.dumps(parts))
    found = describe(site, "cuda-12.1/lib64/libcublas.so.12")
    assert (found.owner, found.version) == (f"CUDA Toolkit 12.1.1 in {site.folder}/cuda-12.1", "12.1.3.1")


def test_debian_owns_what_its_lists_name(site):
    root = site.root / "image"
    path = site.lib("x/libcublas.so.12", "int x;")
    target = root / "usr/local/cuda-12.4/lib64/libcublas.so.12"
    info = root / "var/lib/dpkg/info"
    for folder in (target.parent, info):
        folder.mkdir(parents=True)
    shutil.copy(path, target)
    (info / "libcublas-12-4.list").write_text("/.\n/usr\n/usr/local/cuda-12.4/lib64/libcublas.so.12\n")
    (info.parent / "status").write_text("Package: bash\nVersion: 5\n\nPackage: libcublas-12-4\nVersion: 12.4.5.8-1\n")
    world = site.session().world._replace(files=Disk(str(root)), python=None)
    found = Libraries(world).describe("/usr/local/cuda-12.4/lib64/libcublas.so.12")
    assert (found.owner, found.version) == ("Debian package libcublas-12-4", "12.4.5.8")


def test_the_real_name_tells_the_version_of_what_nobody_owns(site):
    site.lib("x/libcublas.so.12.4.5.8", "int x;", soname="libcublas.so.12")
    (site.folder / "x/libcublas.so.12").symlink_to("libcublas.so.12.4.5.8")
    found = describe(site, "x/libcublas.so.12")
    assert (found.version, found.owner, found.folder) == ("12.4.5.8", None, str(site.folder / "x"))
    assert found.real.endswith("libcublas.so.12.4.5.8")


def test_copies_are_one_build_and_versions_are_not(site):
    site.lib("a/libcublas.so.12", "int one(void) { return 1; }")
    site.lib("b/libcublas.so.12", "int one(void) { return 2; }")
    (site.folder / "c").mkdir()
    shutil.copy(site.folder / "a/libcublas.so.12", site.folder / "c/libcublas.so.12")
    builds = [describe(site, f"{name}/libcublas.so.12").build for name in "abc"]
    assert builds[0] == builds[2] != builds[1]


def linked(site, name, *options):
    """Make a library that says how it was linked."""
    site.write(f"{name}/x", "")
    path = site.folder / name / "libcublas.so.12"
    words = ["gcc", "-shared", "-nostdlib", "-x", "c", "-", *options, "-o", str(path)]
    subprocess.run(words, input="int x;", text=True, check=True)
    return path


@pytest.mark.parametrize("place", [20_000, -20], ids=["at the start", "at the end"])
def test_builds_differ_wherever_in_a_large_file_they_do(site, place):
    """The two ends and the symbols are looked at."""
    one, two = (linked(site, name, "-Wl,--build-id=none") for name in ("one", "two"))
    data = bytearray(one.read_bytes() + bytes(300_000))
    one.write_bytes(data)
    data[place] ^= 1
    two.write_bytes(data)
    assert describe(site, "one/libcublas.so.12").build != describe(site, "two/libcublas.so.12").build


def test_the_linkers_own_fingerprint_counts_before_the_bytes(site):
    """Tools that set another RPATH keep it."""
    for name in ("one", "two"):
        linked(site, name, "-Wl,--build-id=0x1234abcd", f"-Wl,-rpath,/{name}")
    assert [describe(site, f"{name}/libcublas.so.12").build for name in ("one", "two")] == ["1234abcd"] * 2


def test_elsewhere_are_other_majors_in_searched_folders_and_the_name_where_nobody_searches(site):
    site.lib("nvidia/cublas/lib/libcublas.so.12")
    site.lib("searched/libcublas.so.11")
    site.lib("searched/libother.so.12")
    site.lib("extra/libcublas.so.12", "int y;")
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "searched")}
    session = site.session()
    missing = session.open("libcublas.so.12", "", "").failure.libraries[0]
    found = elsewhere(missing, session.world, (str(site.folder / "extra"),))
    names = ("nvidia/cublas/lib/libcublas.so.12", "extra/libcublas.so.12", "searched/libcublas.so.11")
    assert found == tuple(str(site.folder / name) for name in names)
