"""Two versions of one family that load and don't work together."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

LT = f"{SITE}/nvidia/cublas/lib/libcublasLt.so.12"
CUBLAS = f"{SITE}/nvidia/cublas/lib/libcublas.so.12"


@pytest.fixture
def torch(env):
    env.wheel("cublas", "libcublasLt.so.12", "int one;", version="12.1.3.1")
    env.wheel("cublas", "libcublas.so.12", "", [LT], version="12.1.3.1")
    env.root_lib = env.torch("libtorch_cuda.so", "", [CUBLAS])
    env.open(env.root_lib)
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    return env


def test_a_newer_cublaslt_under_an_older_cublas(torch):
    torch.cuda("opt/libcublasLt.so.12", "int two;", version="12.4.5.8")
    finding = torch.only()
    assert (finding.code, finding.severity) == ("CVM007", "warning")
    assert "libcublasLt.so.12 12.4.5.8 by LD_LIBRARY_PATH with libcublas.so.12 12.1.3.1 by RPATH of" in finding.summary
    assert finding.evidence["wanted"].endswith("/nvidia/cublas/lib/libcublasLt.so.12")
    assert torch.told(torch.root_lib) is None


def test_another_file_of_unknown_version(torch):
    torch.cuda("opt/libcublasLt.so.12", "int two;")
    assert torch.only().code == "CVM007"


def test_the_same_version(torch):
    torch.cuda("opt/libcublasLt.so.12", "int two;", version="12.1.3.1")
    assert torch.judged() == ()


def test_the_same_build(torch):
    """Whatever version a toolkit calls it by."""
    torch.copy("opt/libcublasLt.so.12", LT)
    torch.versions[f"{torch.root}/opt/libcublasLt.so.12"] = "12.1.1"
    assert torch.judged() == ()


def test_both_of_the_toolkit(torch):
    """What is replaced as a whole fits."""
    lt = torch.cuda("opt/libcublasLt.so.12", "int two;", version="12.4.5.8")
    torch.cuda("opt/libcublas.so.12", "int two;", [lt], version="12.4.5.8")
    root = f"{SITE}/other/_C.so"
    torch.lib(root, "", [CUBLAS], runpath="$ORIGIN/../nvidia/cublas/lib")
    torch.opens.clear()
    torch.open(root)
    assert torch.judged() == ()


def test_two_majors_beside_each_other(torch):
    torch.cuda("opt/libcublasLt.so.11", "int two;", version="11.11.3.6")
    torch.open("libcublasLt.so.11")
    assert torch.judged() == ()


@pytest.mark.parametrize(("builtins", "codes"), [("12.4", []), ("12.1", ["CVM007"])])
def test_the_builtins_of_nvrtc(env, builtins, codes):
    env.open(env.wheel("cuda_nvrtc", "libnvrtc.so.12", version="12.4.127"))
    env.open(env.cuda(f"opt/libnvrtc-builtins.so.{builtins}", plain=True))
    assert [one.code for one in env.judged()] == codes
