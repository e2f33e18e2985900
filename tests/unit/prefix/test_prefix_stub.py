from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess

import pytest

from cvm.prefix.stub import AARCH64, MACHINES, X86_64, stub_library

NAMES = [f"cuFunction{index}" for index in range(300)]


@pytest.fixture(params=sorted(MACHINES))
def stub(request, tmp_path):
    path = tmp_path / "libcuda.so"
    path.write_bytes(stub_library("libcuda.so.1", NAMES, MACHINES[request.param], 34))
    return path


@pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf")
def test_readelf_finds_soname_symbols_and_no_fault(stub):
    run = subprocess.run(
        ["readelf", "-a", "-W", stub],
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )
    assert run.stderr == ""
    assert "Library soname: [libcuda.so.1]" in run.stdout
    assert [name for name in NAMES if f" FUNC    GLOBAL DEFAULT    4 {name}\n" not in run.stdout] == []
    assert "VERSYM" not in run.stdout
    assert "GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RW " in run.stdout


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no machine code for this machine")
def test_the_loader_finds_every_function_and_it_returns_the_value(tmp_path):
    machine = X86_64 if platform.machine() == "x86_64" else AARCH64
    (tmp_path / "libcuda.so").write_bytes(stub_library("libcuda.so.1", NAMES, machine, 34))
    library = ctypes.CDLL(str(tmp_path / "libcuda.so"))
    assert {library[name]() for name in NAMES} == {34}
    assert not hasattr(library, "cuOther")


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no machine code for this machine")
def test_a_linker_takes_it(tmp_path, linker):
    if not shutil.which("gcc") or not shutil.which(f"ld.{linker}"):
        pytest.skip(f"no gcc or no ld.{linker}")
    machine = X86_64 if platform.machine() == "x86_64" else AARCH64
    (tmp_path / "libcuda.so").write_bytes(stub_library("libcuda.so.1", NAMES, machine, 34))
    (tmp_path / "a.c").write_text("int cuFunction7(void); int main(void) { return cuFunction7(); }\n")
    subprocess.run(["gcc", f"-fuse-ld={linker}", "a.c", "-L.", "-lcuda", "-o", "a"], cwd=tmp_path, check=True)
    needed = subprocess.run(["readelf", "-d", "a"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "[libcuda.so.1]" in needed
    (tmp_path / "libcuda.so.1").symlink_to("libcuda.so")
    assert subprocess.run(["./a"], cwd=tmp_path, env={"LD_LIBRARY_PATH": "."}, check=False).returncode == 34


def test_a_function_named_twice_is_there_once():
    assert stub_library("x.so.1", ["a", "b", "a"], X86_64, 1) == stub_library("x.so.1", ["b", "a"], X86_64, 1)


def test_machine_code_is_return_34():
    assert X86_64.function(34).hex() == "b822000000c3"
    assert AARCH64.function(34).hex() == "40048052c0035fd6"
