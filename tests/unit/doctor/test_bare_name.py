"""Names without a version."""

from __future__ import annotations

from tests.unit.doctor.worlds import SITE

NVRTC = f"{SITE}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"


def test_only_a_versioned_file_is_here(env):
    env.open(env.wheel("cuda_nvrtc", "libnvrtc.so.12"))
    env.open("libnvrtc.so", later=True)
    finding = env.only()
    assert (finding.code, finding.severity) == ("CVM009", "error")
    assert f"opens libnvrtc.so by its name without a version, and only {env.root}/{NVRTC} is there" in finding.summary
    assert finding.hint[0].endswith(f'ln -sfn {env.root}/{NVRTC} "$HOME"/.local/lib/cuda-names/libnvrtc.so')
    assert env.told("libnvrtc.so") == finding.evidence["error"]


def test_code_that_has_another_way(env):
    """cuDNN 9 tries the bare name first, then one with the major."""
    env.open("libnvrtc.so", handled=True, later=True)
    env.open(env.wheel("cuda_nvrtc", "libnvrtc.so.12"))
    assert env.judged() == ()


def test_code_that_can_do_without(env):
    env.open("libnvrtc.so", handled=True)
    assert env.judged(env.consumer(elsewhere={"libnvrtc.so": ("/x/libnvrtc.so", "/x/libnvrtc.so.12")})) == ()


def test_a_link_of_that_name(env):
    env.wheel("cuda_nvrtc", "libnvrtc.so.12")
    env.symlink("opt/libnvrtc.so", f"%/{NVRTC}")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open("libnvrtc.so", later=True)
    assert env.told("libnvrtc.so") is None
    assert env.judged() == ()


def test_triton_asks_for_the_driver(env):
    env.open("libcuda.so")
    there = {"libcuda.so": ("/usr/lib/wsl/lib/libcuda.so.1",)}
    finding = env.only(env.consumer(elsewhere=there), gpu=True)
    assert (finding.code, finding.severity) == ("CVM009", "error")
    assert finding.hint == ("export TRITON_LIBCUDA_PATH=/usr/lib/wsl/lib",)
