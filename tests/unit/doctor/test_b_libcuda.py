"""CVM025: the driver's libcuda is missing, or another one is loaded in its place.

Must stay quiet: machines without a GPU and build containers, where it is missing; the driver's own, also under
/usr/lib/wsl or in /usr/local/nvidia/lib64; the compat packages; a copy of the driver's version; Tegra's.
"""

from __future__ import annotations

import pytest

from cvm.core.machine import Machine
from cvm.doctor.checks.libcuda import check
from tests.unit.doctor.environments import (
    brief,
    case,
    commands,
    consumer,
    element,
    from_variable,
    library,
    not_opened,
    opened,
    torch_dist,
)

GPU = Machine(gpu=True, driver="550.54.14")
WSL = Machine(gpu=True, wsl=True)
SYSTEM = "/usr/lib/x86_64-linux-gnu"
WINDOWS = "/usr/lib/wsl/lib/libcuda.so.1"


def judge(machine, libcuda, *path, consumers=(), **more):
    return list(check(case(*consumers, machine=machine, libcuda=libcuda, path=path, **more)))


# -- missing


def test_a_gpu_without_libcuda_is_an_error():
    (finding,) = judge(GPU, not_opened())
    assert brief([finding]) == [("CVM025", "error", "")]
    assert finding.evidence == {
        "error": "libcuda.so.1: cannot open shared object file: No such file or directory",
        "missing": "libcuda.so.1",
    }
    assert all(line.startswith("# ") for line in finding.hint)


@pytest.mark.parametrize("machine", [Machine(), Machine(gpu=False), Machine(gpu=False, wsl=True), Machine(wsl=True)])
def test_without_a_gpu_nobody_misses_it(machine):
    assert judge(machine, not_opened()) == []


def test_what_was_not_tried_is_quiet():
    assert judge(GPU, None) == []


def test_a_driver_in_a_folder_that_nobody_searches_is_named():
    path = "/run/opengl-driver/lib/libcuda.so.1"
    files = ("/opt/libcuda.so", "/opt/stubs/libcuda.so.1", "/usr/local/cuda/compat/libcuda.so.1", path)
    one = consumer(torch_dist(), elsewhere={"libcuda.so.1": files})
    (finding,) = judge(GPU, not_opened(), consumers=[one, one])
    assert finding.evidence["files"] == (path,)
    assert commands(finding) == [["export", "LD_LIBRARY_PATH=/run/opengl-driver/lib"]]


def test_under_wsl_the_cache_is_to_be_made_anew():
    (finding,) = judge(WSL, not_opened())
    assert commands(finding) == [["sudo", "ldconfig"]]


# -- WSL


def test_a_linux_driver_under_wsl_is_an_error():
    (finding,) = judge(WSL, opened(f"{SYSTEM}/libcuda.so.1"))
    assert brief([finding]) == [("CVM025", "error", "")]
    assert commands(finding) == [["dpkg", "-S", f"{SYSTEM}/libcuda.so.1"]]


@pytest.mark.parametrize("path", [WINDOWS, "/lib/wsl/lib/libcuda.so.1", "/usr/lib/wsl/drivers/nv_1/libcuda.so.1.1"])
def test_windows_own_is_quiet(path):
    assert judge(WSL, opened(path)) == []


def test_a_link_to_windows_own_is_quiet():
    assert judge(WSL, opened(f"{SYSTEM}/libcuda.so.1"), libcuda_real="/usr/lib/wsl/lib/libcuda.so.1.1") == []
    assert judge(WSL, opened(WINDOWS), libcuda_real="/mnt/drivers/libcuda.so.1.1") == []


def test_a_linux_driver_without_a_gpu_is_no_error():
    assert judge(Machine(gpu=False, wsl=True), opened(f"{SYSTEM}/libcuda.so.1")) == []
    assert brief(judge(Machine(wsl=True), opened(f"{SYSTEM}/libcuda.so.1"))) == [("CVM025", "warning", "")]


def test_the_element_that_brings_a_linux_driver_is_blamed():
    on_path = element(1, SYSTEM, cuda=["libcuda.so.1"])
    libcuda = opened(f"{SYSTEM}/libcuda.so.1", from_variable(1, SYSTEM))
    (finding,) = judge(WSL, libcuda, element(0, "/x"), on_path)
    assert finding.evidence["culprit"] == f"LD_LIBRARY_PATH[1]={SYSTEM}"
    assert commands(finding) == [["export", "LD_LIBRARY_PATH=/x"]]


@pytest.mark.parametrize(("cuda", "severity"), [(["libnvidia-ml.so.1"], "warning"), (["libcudart.so.12"], "note")])
def test_a_system_folder_on_the_path_of_wsl_is_told(cuda, severity):
    found = judge(WSL, opened(WINDOWS), element(0, SYSTEM, cuda=cuda))
    assert brief(found) == [("CVM025", severity, "")]
    assert found[0].evidence["culprit"] == f"LD_LIBRARY_PATH[0]={SYSTEM}"


def test_other_folders_on_the_path_of_wsl_are_quiet():
    path = element(0, "/usr/local/cuda/lib64", cuda=["libcudart.so.12"]), element(1, "/usr/lib/wsl/lib"), element(2, "")
    assert judge(WSL, opened(WINDOWS), *path) == []


def test_a_system_folder_on_the_path_of_linux_is_quiet():
    assert judge(GPU, opened(f"{SYSTEM}/libcuda.so.1"), element(0, SYSTEM, cuda=["libcuda.so.1"])) == []


# -- a copy of another version


def copy(path, version, machine=GPU):
    real = f"{path.rpartition('/')[0]}/libcuda.so.{version}"
    folder = path.rpartition("/")[0]
    return judge(machine, opened(path, from_variable(0, folder)), element(0, folder), libcuda_real=real)


def test_a_copy_of_another_version_is_an_error():
    (finding,) = copy("/venv/lib/libcuda.so.1", "535.104.05")
    assert brief([finding]) == [("CVM025", "error", "")]
    assert (finding.evidence["compiled"], finding.evidence["runtime"]) == ("550.54.14", "535.104.05")
    assert commands(finding) == [["unset", "LD_LIBRARY_PATH"]]
    assert brief(copy("/venv/lib/libcuda.so.1", "535.104.05", GPU._replace(gpu=None))) == [("CVM025", "warning", "")]


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/usr/local/nvidia/lib64/libcuda.so.1", "550.54.14"),
        ("/usr/local/cuda-12.4/compat/libcuda.so.1", "560.35.03"),
        ("/conda/cuda-compat/libcuda.so.1", "560.35.03"),
        ("/venv/lib/libcuda.so.1", "1"),
        (f"{SYSTEM}/libcuda.so.1", "535.104.05"),
        ("/usr/lib64/libcuda.so.1", "535.104.05"),
    ],
)
def test_the_drivers_own_and_compat_are_quiet(path, version):
    assert copy(path, version) == []


def test_links_from_and_into_the_compat_packages_are_quiet():
    compat = "/usr/local/cuda/compat"
    assert judge(GPU, opened("/opt/libcuda.so.1"), libcuda_real=f"{compat}/libcuda.so.560.35.03") == []
    assert judge(GPU, opened(f"{compat}/libcuda.so.1"), libcuda_real="/opt/libcuda.so.560.35.03") == []


def test_an_unknown_driver_and_tegra_are_quiet():
    assert copy("/venv/lib/libcuda.so.1", "535.104.05", GPU._replace(driver=None)) == []
    assert copy("/venv/lib/libcuda.so.1", "535.104.05", GPU._replace(tegra=True)) == []
    assert copy("/venv/lib/libcuda.so.1", "535.104.05", GPU._replace(gpu=False)) == []


def test_the_real_file_is_also_known_from_a_consumer():
    path = "/venv/lib/libcuda.so.1"
    one = consumer(torch_dist(), libraries={path: library(path, "/venv/lib/libcuda.so.535.104.05")})
    assert brief(judge(GPU, opened(path), consumers=[consumer(torch_dist()), one])) == [("CVM025", "error", "")]
    assert judge(GPU, opened(path)) == []


def test_a_stub_is_left_to_the_check_for_stubs():
    stub = "/usr/local/cuda/lib64/stubs/libcuda.so"
    assert judge(WSL, opened(f"{stub}.1"), libcuda_real="/opt/it/libcuda.so") == []
    assert judge(WSL, opened("/opt/driver/libcuda.so.1"), libcuda_real=stub) == []
