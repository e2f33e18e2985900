"""A wheel's library in the shadow of another: the founding case, and what looks like it and is none."""

from __future__ import annotations

import pytest

from cvm.doctor.case import PathElement
from cvm.doctor.judge import judge
from cvm.elf.process import Mode
from tests.unit.doctor.worlds import SITE

OLD = "int cublasLtCreate(){return 1;}"
NEW = OLD + "int cublasLtHSHMatmulAlgoInit(){return 1;}"
CALL = "int cublasLtHSHMatmulAlgoInit();int cublasCreate(){return cublasLtHSHMatmulAlgoInit();}"
CUBLAS = f"{SITE}/nvidia/cublas/lib/libcublas.so.11"
LT = f"{SITE}/nvidia/cublas/lib/libcublasLt.so.11"


@pytest.fixture
def torch(env):
    """torch 1.13: its own list names cuBLAS only, and cuBLAS finds cuBLASLt by its RUNPATH."""
    env.wheel("cublas", "libcublasLt.so.11", NEW, version="11.10.3.66")
    env.wheel("cublas", "libcublas.so.11", CALL, [LT], version="11.10.3.66")
    env.open(env.torch("libtorch_global_deps.so", "", [CUBLAS]))
    env.root_lib = f"{SITE}/torch/lib/libtorch_global_deps.so"
    return env


def shadow(env, folder="opt/cuda-11.6/lib64", code=OLD, version="11.9.2.110"):
    env.cuda(f"{folder}/libcublasLt.so.11", code, version=version)
    env.environment["LD_LIBRARY_PATH"] = f"%/{folder}"


def test_an_older_cublaslt_in_front(torch):
    shadow(torch)
    finding = torch.only(torch.consumer(version="1.13.1"))
    root, folder = torch.root, f"{torch.root}/opt/cuda-11.6/lib64"
    told = f"{root}/{CUBLAS}: undefined symbol: cublasLtHSHMatmulAlgoInit, version libcublasLt.so.11"
    # The loader spells the path as it came to it, up from torch's folder; only its own words do so.
    plain = f"{root}/{SITE}/nvidia/cublas/lib"
    told = told.replace(plain, f"{root}/{SITE}/torch/lib/../../nvidia/cublas/lib")
    assert finding._replace(hint=(), consequences=()) == (
        "CVM002",
        "error",
        "torch",
        (
            "torch 1.13.1 won't import: LD_LIBRARY_PATH puts libcublasLt.so.11 11.9.2.110 before 11.10.3.66, "
            "and it lacks cublasLtHSHMatmulAlgoInit that libcublas.so.11 needs"
        ),
        {
            "error": told,
            "symbol": "cublasLtHSHMatmulAlgoInit",
            "needed_by": f"{plain}/libcublas.so.11",
            "winner": f"{folder}/libcublasLt.so.11",
            "found_via": f"LD_LIBRARY_PATH[0]={folder}",
            "culprit": f"LD_LIBRARY_PATH[0]={folder}",
            "wanted": f"{plain}/libcublasLt.so.11",
        },
        (),
        (),
    )
    assert finding.hint == (
        "env -u LD_LIBRARY_PATH python -c 'import torch'",
        "unset LD_LIBRARY_PATH",
        f'export LD_LIBRARY_PATH={root}/{SITE}/nvidia/cublas/lib:"$LD_LIBRARY_PATH"',
    )
    assert torch.told(torch.root_lib) == told
    assert torch.told(torch.root_lib, clean=True) is None


def test_the_same_without_the_variable(torch):
    assert torch.judged() == ()


@pytest.mark.parametrize("code", [NEW, NEW + "int newer(){return 1;}"])
def test_a_toolkit_that_has_what_is_needed(torch, code):
    # Of the same version: nobody can tell the difference.
    shadow(torch, code=code, version="11.10.3.66")
    assert torch.told(torch.root_lib) is None
    assert torch.judged() == ()


def test_torch_that_names_both_itself(env):
    """torch 2: RPATH comes before the variable, so the element in front does no harm."""
    env.wheel("cublas", "libcublasLt.so.11", NEW, version="11.10.3.66")
    env.wheel("cublas", "libcublas.so.11", CALL, [LT], version="11.10.3.66")
    shadow(env)
    root = env.torch("libtorch_global_deps.so", "", [LT, CUBLAS])
    env.open(root)
    assert env.told(root) is None
    assert env.judged() == ()


def test_only_the_guilty_element_is_dropped(torch):
    shadow(torch, "opt/a b/toolchains/11.6/lib")
    folder = "%/opt/a b/toolchains/11.6/lib"
    torch.environment["LD_LIBRARY_PATH"] = f"/nowhere:{folder}/:/opt/more:{folder}"
    assert torch.only().hint[1] == "export LD_LIBRARY_PATH=/nowhere:/opt/more"


def test_another_toolkit_behind_the_guilty_one_goes_too(torch):
    """It would come to the front, and nobody has tried what it does there."""
    shadow(torch)
    case = torch.case()
    path = (
        *case.path,
        PathElement(1, "/opt/more", "/opt/more"),
        PathElement(2, "/opt/cuda", "/opt/cuda", ("libcublas.so.11",)),
    )
    value = ":".join(one.text for one in path)
    case = case._replace(path=path, variables={"LD_LIBRARY_PATH": value})
    (finding,) = judge(case)
    assert finding.hint[1] == "export LD_LIBRARY_PATH=/opt/more"


def test_a_toolchain_of_cvm_is_used_without_the_variable(torch):
    shadow(torch, "home/toolchains/11.6.2-cudnn8.4.1/lib64")
    assert torch.only().hint[1] == "cvm use 11.6.2-cudnn8.4.1 --ld-library-path never"


def test_the_wrong_one_is_the_library_that_needs_more(env):
    """A newer cuBLAS in front, with the wheel's cuBLASLt loaded already."""
    env.wheel("cublas", "libcublasLt.so.11", OLD, version="11.9.2.110")
    env.wheel("cublas", "libcublas.so.11", "int cublasCreate(){return 1;}", [LT], version="11.9.2.110")
    newer = env.cuda("opt/lib/libcublasLt.so.11", NEW)
    env.cuda("opt/lib64/libcublas.so.11", CALL, [newer], version="11.11.3.6")
    env.wheel("cusparse", "libcusparse.so.11", "", [CUBLAS])
    env.environment["LD_LIBRARY_PATH"] = "%/opt/lib64"
    roots = (LT, f"{SITE}/nvidia/cusparse/lib/libcusparse.so.11")
    for root in roots:
        env.open(root)
    finding = env.only()
    assert env.told(*roots) == finding.evidence["error"]
    assert (finding.code, finding.evidence["culprit"]) == ("CVM002", f"LD_LIBRARY_PATH[0]={env.root}/opt/lib64")
    assert finding.evidence["winner"] == f"{env.root}/{LT}"
    assert "libcublas.so.11 11.11.3.6 before 11.9.2.110, and it needs cublasLtHSHMatmulAlgoInit" in finding.summary


def test_ld_so_cache_shadows_with_an_empty_path(env):
    """A wheel without a RUNPATH to the other's folder gets the system's."""
    env.wheel("cublas", "libcublasLt.so.11", NEW)
    env.cuda("usr/local/cuda/lib64/libcublasLt.so.11", OLD, version="11.9.2.110")
    env.lib("lib/libcublas.so.11", CALL, [LT], soname="libcublas.so.11", script="libcublas.so.11 { global: *; };")
    env.in_cache(libcublasLt_so_11="usr/local/cuda/lib64/libcublasLt.so.11")
    env.open("lib/libcublas.so.11")
    finding = env.only()
    assert (finding.code, finding.evidence["found_via"]) == ("CVM002", "ld.so.cache")
    assert finding.evidence["culprit"] == f"ld.so.cache: {env.root}/usr/local/cuda/lib64"
    assert finding.hint[-2].startswith(f"grep -rF {env.root}/usr/local/cuda/lib64 /etc/ld.so.conf")


def test_what_fails_alike_without_the_variable_is_not_its_fault(torch):
    shadow(torch)
    torch.wheel("cublas", "libcublasLt.so.11", OLD, version="11.8.1.74")
    pin = "nvidia-cublas-cu11==11.10.3.66"
    finding = torch.only(torch.consumer(requires=(f"{pin}; platform_system == 'Linux'",)))
    assert (finding.code, finding.severity) == ("CVM012", "error")
    assert finding.hint == (f"python -m pip install --force-reinstall --no-deps {pin}",)


def test_several_consumers_of_one_culprit_are_one_fault(torch):
    shadow(torch)
    finding = torch.only(torch.consumer(), torch.consumer("torchaudio", "2.5.1"))
    assert (finding.consumer, [one.consumer for one in finding.consequences]) == ("torch", ["torchaudio"])


def test_an_abort_at_the_first_call(torch):
    """Opened lazily, the missing function ends the process when it is called."""
    shadow(torch)
    torch.opens.clear()

    torch.open(CUBLAS, Mode.LAZY)
    finding = torch.only()
    assert (finding.code, finding.severity) == ("CVM002", "error")
    assert finding.summary.startswith("torch 2.5.1 fails at the first use of libcublas.so.11: LD_LIBRARY_PATH puts")


def test_a_function_that_the_wheel_lacks_as_well(torch):
    """Nobody calls it, or it would not have been missed: the variable changes nothing."""
    shadow(torch)
    torch.wheel("cublas", "libcublasLt.so.11", OLD + "int wheel;", version="11.9.2.110")
    torch.opens.clear()
    torch.open(CUBLAS, Mode.LAZY)
    assert torch.judged() == ()


def test_a_failure_that_the_code_goes_on_after(torch):
    shadow(torch)
    name, how = torch.opens[0]
    torch.opens[0] = name, {**how, "handled": True}
    assert torch.only().severity == "warning"


def test_a_failure_that_the_code_makes_good(torch):
    """As torch does: after a failure it opens the libraries by path and tries again."""
    shadow(torch)
    name, how = torch.opens[0]
    torch.opens[:] = [(name, {**how, "handled": True})]
    torch.open(LT, Mode.NOW | Mode.GLOBAL)
    torch.opens.append((name, how))
    assert torch.judged() == ()
