"""CVM027: a torch without CUDA where CUDA is wanted.

Must stay quiet: who wants the CPU only, and has no GPU; a torch with CUDA; a torch that tells nothing.
"""

from __future__ import annotations

import pytest

from cvm.core.machine import Machine
from cvm.doctor.checks.cpu_only import check
from tests.unit.doctor.environments import (
    assert_never_leaves_a_hole,
    brief,
    case,
    commands,
    consumer,
    dist,
    element,
    python,
    torch_dist,
)

GPU, NONE, UNKNOWN = Machine(gpu=True), Machine(gpu=False), Machine()
TORCH = torch_dist("2.5.1+cpu", pins=())
CUDA = element(0, "/opt/cuda/lib64", cuda=["libcudart.so.12"])


def judge(machine, *path, cuda=None, variables=None, torch=TORCH, more=()):
    one = consumer(torch, cuda=cuda)
    return list(check(case(one, machine=machine, path=path, variables=variables, python=python(torch, *more))))


def test_a_gpu_that_goes_unused_is_a_warning():
    (finding,) = judge(GPU)
    assert brief([finding]) == [("CVM027", "warning", "torch")]
    assert finding.summary == "torch 2.5.1+cpu is built without CUDA and will not use this machine's GPU"
    pip = "/venv/bin/python -m pip"
    assert finding.hint[-1] == f"{pip} uninstall -y torch && {pip} install torch==2.5.1"
    assert_never_leaves_a_hole([finding])


@pytest.mark.parametrize("machine", [NONE, UNKNOWN])
def test_without_a_gpu_and_a_wish_it_is_quiet(machine):
    assert judge(machine) == []
    assert judge(machine, element(0, "/opt/lib"), element(1, "", folder="/x", cuda=["libcudart.so.12"])) == []
    assert judge(machine, variables={"CVM_TOOLCHAIN": "system", "CUDA_HOME": ""}) == []


@pytest.mark.parametrize("machine", [NONE, UNKNOWN])
@pytest.mark.parametrize(
    ("path", "variables", "wish"),
    [
        ((CUDA,), None, "LD_LIBRARY_PATH[0]=/opt/cuda/lib64"),
        ((), {"CVM_TOOLCHAIN": "12.1.1"}, "CVM_TOOLCHAIN=12.1.1"),
        ((), {"CUDA_HOME": "/opt/cuda"}, "CUDA_HOME=/opt/cuda"),
    ],
)
def test_who_asks_for_cuda_gets_a_note(machine, path, variables, wish):
    (finding,) = judge(machine, *path, variables=variables)
    assert brief([finding]) == [("CVM027", "note", "torch")]
    assert finding.evidence["wanted"] == wish


@pytest.mark.parametrize("cuda", ["12.4", ""])
def test_a_torch_with_cuda_or_that_tells_nothing_is_quiet(cuda):
    assert judge(GPU, CUDA, cuda=cuda) == []


def test_only_torch_is_judged():
    other = dist("onnxruntime", "1.20")
    assert judge(GPU, torch=other) == []


def test_conda_is_asked_where_conda_is():
    mutex = dist("pytorch-mutex", "1.0")._replace(info="/venv/conda-meta/pytorch-mutex-1.0-cpu.json")
    (finding,) = judge(GPU, more=(mutex,))
    assert commands(finding)[0] == ["conda", "install", "pytorch=*=*cuda*"]
    assert_never_leaves_a_hole([finding])
