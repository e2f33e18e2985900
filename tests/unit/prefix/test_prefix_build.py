from __future__ import annotations

import hashlib
import os
import subprocess

import pytest

from cvm.core.version import Version
from cvm.errors import DiskError, IntegrityError
from cvm.prefix.build import build
from cvm.prefix.linker import Linker
from cvm.prefix.merge import merge
from cvm.prefix.parts import PrefixFacts
from cvm.prefix.repairs import repair
from cvm.prefix.verify import verify
from tests.fakes.parts import part, toolkit_parts
from tests.fakes.toolkit import Member, cudnn, text

FACTS = PrefixFacts(Version("12.1.1"), "linux-x86_64", (("cuda_nvcc", "CUDA NVCC", "12.1.101"),))


@pytest.fixture
def prefix(tmp_path):
    parts = (
        *toolkit_parts(tmp_path / "store", "12.1.1"),
        part(tmp_path / "store", "cudnn", "8.9.4.25", cudnn("8.9.4.25"), product="cudnn"),
    )
    return build(parts, tmp_path / "prefix", FACTS, Linker()), tmp_path / "prefix"


def test_a_toolkit_and_its_cudnn_become_one_prefix(prefix):
    built, root = prefix
    assert sorted(path.name for path in root.iterdir()) == [
        "EULA.txt", "bin", "compute-sanitizer", "extras", "include", "lib", "lib64", "nvvm", "pkg-config", "pkgconfig",
        "share", "targets", "version.json",
    ]  # fmt: skip
    assert (root / "lib64/libcudnn.so").resolve() == root / "lib/libcudnn.so.8.9.4"
    assert (root / "targets/x86_64-linux/include/cuda.h").is_file()
    assert (root / "extras/CUPTI/include/cupti.h").is_file()
    assert built.repairs == (
        "lib64-link: lib64 -> lib",
        "targets-links: targets/x86_64-linux/include -> ../../include",
        "targets-links: targets/x86_64-linux/lib -> ../../lib",
        "cupti-folders: extras/CUPTI/include -> ../../include",
        "cupti-folders: extras/CUPTI/lib64 -> ../../lib",
        "tool-wrappers: bin/compute-sanitizer",
        "pc-roots: 3 files made relative",
        "pc-unversioned-links: 3 names, such as cublas.pc",
        "pkg-config-links: pkg-config -> lib/pkgconfig",
        "pkg-config-links: pkgconfig -> lib/pkgconfig",
        "version-json: version.json",
        "eula-link: EULA.txt",
    )


def test_the_tools_of_a_prefix_run_even_through_a_link_to_the_folder(prefix, tmp_path):
    _, root = prefix
    (tmp_path / "current").symlink_to(root)
    run = subprocess.run([tmp_path / "current/bin/nvcc", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == "Cuda compilation tools, release 12.1, V12.1.101\n"
    run = subprocess.run([root / "bin/compute-sanitizer"], capture_output=True, text=True, check=True)
    assert run.stdout == "sanitizer 12.1.101\n"


def test_every_file_is_recorded_and_verifies(prefix):
    built, root = prefix
    assert built.files["lib64"] == "-> lib"
    assert built.files["include/cupti.h"] == hashlib.sha256(b"").hexdigest()
    assert (
        built.files["lib/pkgconfig/cudart-12.1.pc"]
        == hashlib.sha256((root / "lib/pkgconfig/cudart-12.1.pc").read_bytes()).hexdigest()
    )
    assert verify(root, built.files, extra=True) == ()


def test_what_a_repair_rewrites_is_a_copy(prefix, tmp_path):
    _, root = prefix
    [stored] = (tmp_path / "store").rglob("cudart-12.1.pc")
    assert "cudaroot=/usr/local/cuda-12.1" in stored.read_text()
    assert "cudaroot=${pcfiledir}/../.." in (root / "lib/pkgconfig/cudart-12.1.pc").read_text()


def test_repairs_do_nothing_twice(prefix):
    _, root = prefix
    before = {path: path.lstat().st_ino for path in root.rglob("*")}
    assert repair(root, FACTS) == ()
    assert {path: path.lstat().st_ino for path in root.rglob("*")} == before


def test_folders_are_open_to_everybody_whatever_the_umask(tmp_path):
    old = os.umask(0o077)
    try:
        build(toolkit_parts(tmp_path / "store", "12.1.1"), tmp_path / "prefix", FACTS, Linker())
    finally:
        os.umask(old)
    closed = [
        path for path in (tmp_path / "prefix").rglob("*") if path.is_dir() and path.stat().st_mode & 0o777 != 0o755
    ]
    assert closed == []


def test_one_file_of_two_archives_is_placed_once(tmp_path):
    parts = [part(tmp_path, key, "1", {"include/a.h": text("same")}) for key in ("cuda_nvcc", "cuda_cudart")]
    merged = merge(parts, FACTS)
    assert merged.notes == ()
    assert merged.placed["include/a.h"].part is parts[0]


def test_a_conflict_is_noted_and_the_earlier_keeps_the_path(tmp_path):
    parts = [part(tmp_path, key, "1.0", {"include/a.h": text(key)}) for key in ("cuda_nvcc", "cudnn")]
    merged = merge(parts, FACTS)
    assert merged.notes == (
        "conflict: include/a.h is that of cuda_nvcc 1.0; cudnn 1.0 brings another, which was left out",
    )
    assert merged.placed["include/a.h"].part is parts[0]


def test_a_file_in_place_of_a_folder_is_refused(tmp_path):
    parts = [
        part(tmp_path, "cuda_nvcc", "1.0", {"include/a": text("")}),
        part(tmp_path, "cudnn", "8.9", {"include/a/b.h": text("")}),
    ]
    with pytest.raises(IntegrityError) as error:
        merge(parts, FACTS)
    assert error.value.message == "cuda_nvcc 1.0 has a file include/a where cudnn 8.9 has a folder"


def test_links_follow_what_they_name_and_never_leave_the_prefix(tmp_path):
    members = {
        "lib64/libx.so.1": Member(b"x"),
        "lib64/libx.so": Member(target="libx.so.1"),
        "bin/x": Member(target="../lib64/libx.so.1"),
        "share/all": Member(target="../lib64"),
        "bin/out": Member(target="../../../etc/passwd"),
        "bin/absolute": Member(target="/etc/passwd"),
        "bin/nowhere": Member(target="gone"),
        "include/include": Member(target="include"),
    }
    merged = merge([part(tmp_path, "cuda_nvcc", "1", members)], FACTS)
    assert {path: item.target for path, item in merged.placed.items() if item.target} == {
        "lib/libx.so": "libx.so.1",
        "bin/x": "../lib/libx.so.1",
        "share/all": "../lib",
    }


def test_a_full_disk_is_a_disk_error(tmp_path):
    (tmp_path / "prefix").write_text("a file is in the way")
    with pytest.raises(DiskError, match=r"prefix can't be made: a file is in the way$"):
        build(toolkit_parts(tmp_path / "store", "12.1.1"), tmp_path / "prefix", FACTS, Linker())


def test_a_moved_prefix_still_serves_pkg_config(prefix, tmp_path):
    _, root = prefix
    moved = root.rename(tmp_path / "else where")
    content = (moved / "lib/pkgconfig/cublas.pc").read_text()
    assert content.splitlines()[:3] == [
        "cudaroot=${pcfiledir}/../..",
        "libdir=${cudaroot}/lib",
        "includedir=${cudaroot}/include",
    ]
