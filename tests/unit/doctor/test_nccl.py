"""NCCL, whose symbols have no versions."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

NCCL = f"{SITE}/nvidia/nccl/lib/libnccl.so.2"
OLD, NEW = "int ncclSend(){return 1;}", "int ncclSend(){return 1;}int ncclCommRegister(){return 1;}"


@pytest.fixture
def torch(env):
    env.wheel("nccl", "libnccl.so.2", NEW, plain=True, version="2.21.5")
    path = f"{SITE}/torch/lib/libtorch_cuda.so"
    env.lib(
        path,
        "int ncclCommRegister();int f(){return ncclCommRegister();}",
        [NCCL],
        runpath="$ORIGIN/../../nvidia/nccl/lib",
    )
    env.open(path)
    env.root_lib = path
    return env


def test_an_older_one_in_front(torch):
    torch.cuda("opt/libnccl.so.2", OLD, plain=True, version="2.18.3")
    torch.environment["LD_LIBRARY_PATH"] = "/more:%/opt"
    finding = torch.only()
    assert (finding.code, finding.severity) == ("CVM010", "error")
    assert finding.summary == (
        "torch 2.5.1 won't import: LD_LIBRARY_PATH puts libnccl.so.2 2.18.3 before 2.21.5, "
        "and it lacks ncclCommRegister that libtorch_cuda.so needs"
    )
    assert finding.evidence["winner"] == f"{torch.root}/opt/libnccl.so.2"
    assert finding.evidence["culprit"] == f"LD_LIBRARY_PATH[1]={torch.root}/opt"
    assert finding.hint[1] == "export LD_LIBRARY_PATH=/more"
    assert torch.told(torch.root_lib) == finding.evidence["error"]


def test_another_that_has_all(torch):
    torch.cuda("opt/libnccl.so.2", NEW + "int more;", plain=True, version="2.22.3")
    torch.environment["LD_LIBRARY_PATH"] = "%/opt"
    assert torch.judged() == ()


def test_a_package_that_is_too_old(torch):
    torch.wheel("nccl", "libnccl.so.2", OLD, plain=True, version="2.18.3")
    finding = torch.only(torch.consumer(requires=("nvidia-nccl-cu12==2.21.5; platform_system == 'Linux'",)))
    assert (finding.code, finding.severity) == ("CVM010", "error")
    assert finding.hint == ("python -m pip install --force-reinstall --no-deps nvidia-nccl-cu12==2.21.5",)
