"""What LD_PRELOAD brings."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

CUBLAS = f"{SITE}/nvidia/cublas/lib/libcublas.so.12"


@pytest.fixture
def torch(env):
    env.wheel("cublas", "libcublas.so.12", "int cublasNew(){return 1;}", version="12.4.5.8")
    env.root_lib = env.torch("libtorch_cuda.so", "int cublasNew();int f(){return cublasNew();}", [CUBLAS])
    env.open(env.root_lib)
    return env


def test_another_build_that_has_all(torch):
    path = torch.cuda("opt/libcublas.so.12", "int cublasNew(){return 2;}", version="12.1.3.1")
    torch.environment["LD_PRELOAD"] = f"%/{path}"
    finding = torch.only()
    assert (finding.code, finding.severity) == ("CVM014", "warning")
    assert finding.summary == (
        "LD_PRELOAD puts libcublas.so.12 12.1.3.1 in the place of torch's libcublas.so.12 12.4.5.8"
    )
    assert finding.evidence["culprit"] == f"LD_PRELOAD={torch.root}/{path}"
    assert finding.hint == ("unset LD_PRELOAD",)


def test_another_build_that_fails(torch):
    path = torch.cuda("opt/libcublas.so.12", "int other;", version="12.1.3.1")
    torch.environment["LD_PRELOAD"] = f"/usr/lib/more.so:%/{path}"
    findings = torch.judged()
    first = findings[0]
    assert (first.code, first.severity) == ("CVM002", "error")
    assert first.evidence["culprit"] == f"LD_PRELOAD={torch.root}/{path}"
    assert [one.code for one in first.consequences] == ["CVM014"]
    assert first.hint == ("env -u LD_PRELOAD python -c 'import torch'", "export LD_PRELOAD=/usr/lib/more.so")
    assert torch.told(torch.root_lib) == first.evidence["error"]


def test_the_same_build(torch):
    torch.environment["LD_PRELOAD"] = f"%/{CUBLAS}"
    assert torch.judged() == ()


def test_an_allocator(torch):
    torch.lib("opt/libjemalloc.so.2", "int allocate;", soname="libjemalloc.so.2")
    torch.environment["LD_PRELOAD"] = "%/opt/libjemalloc.so.2"
    assert torch.judged() == ()


def test_what_is_not_there(torch):
    torch.environment["LD_PRELOAD"] = "/nowhere/libx.so"
    finding = torch.only()
    assert (finding.code, finding.severity, finding.consumer) == ("CVM014", "note", "")
    assert finding.evidence["error"].startswith("ERROR: ld.so: object '/nowhere/libx.so' from LD_PRELOAD cannot be")
    assert finding.hint == ("unset LD_PRELOAD",)


def test_wheels_that_fail_by_themselves(torch):
    """The preload is of no better build than what it displaces: it isn't to blame."""
    path = torch.cuda("opt/libcublas.so.12", "int other;")
    torch.wheel("cublas", "libcublas.so.12", "int other;")
    torch.environment["LD_PRELOAD"] = f"%/{path}"
    finding = torch.only()
    assert (finding.code, finding.evidence["symbol"], finding.hint) == ("CVM012", "cublasNew", ())


def test_a_preload_in_the_place_of_nothing(torch):
    path = torch.cuda("opt/libcublas.so.12", "int other;", version="12.1.3.1")
    (torch.root / CUBLAS).unlink()
    torch.environment["LD_PRELOAD"] = f"%/{path}"
    finding = torch.only()
    assert (finding.code, finding.evidence["culprit"]) == ("CVM002", f"LD_PRELOAD={torch.root}/{path}")


def test_what_is_none_of_cudas(torch):
    """People preload a system's libgomp or libstdc++ on purpose."""
    own = f"{SITE}/torch/lib/libgomp.so.1"
    torch.lib(own, "int own;", soname="libgomp.so.1")
    torch.lib("opt/libgomp.so.1", "int other;", soname="libgomp.so.1")
    torch.open(torch.torch("libtorch_cpu.so", "", [own]))
    torch.environment["LD_PRELOAD"] = "%/opt/libgomp.so.1"
    assert torch.judged() == ()
