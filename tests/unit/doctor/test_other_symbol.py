"""Failures that no other check explains."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

ROOT = f"{SITE}/torch/lib/libtorch_cpu.so"


def test_mkl_that_is_too_new(env):
    env.lib(ROOT, "int iJIT_NotifyEvent();int f(){return iJIT_NotifyEvent();}")
    env.open(ROOT)
    finding = env.only()
    assert (finding.code, finding.severity) == ("CVM012", "error")
    assert finding.hint == ("conda install 'mkl<2024.1'",)
    assert env.told(ROOT) == finding.evidence["error"]


def test_mkl_that_has_it(env):
    env.lib("env/lib/libmkl_core.so.2", "int iJIT_NotifyEvent(){return 1;}", soname="libmkl_core.so.2")
    code = "int iJIT_NotifyEvent();int f(){return iJIT_NotifyEvent();}"
    env.lib(ROOT, code, ["env/lib/libmkl_core.so.2"], rpath="%/env/lib")
    env.open(ROOT)
    assert env.judged() == ()


def test_an_older_standard_library_in_front(env):
    new, old = "GLIBCXX_3.4.29 { }; GLIBCXX_3.4.30 { global: *; };", "GLIBCXX_3.4.29 { global: *; };"
    env.lib("env/lib/libstdc++.so.6", "int s(){return 1;}", soname="libstdc++.so.6", script=new)
    env.lib(ROOT, "int s();int f(){return s();}", ["env/lib/libstdc++.so.6"], runpath="%/env/lib")
    env.lib("opt/libstdc++.so.6", "int s(){return 1;}", soname="libstdc++.so.6", script=old)
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open(ROOT)
    finding = env.only()
    assert (finding.code, finding.severity) == ("CVM012", "error")
    assert finding.evidence["winner"] == f"{env.root}/opt/libstdc++.so.6"
    assert finding.evidence["culprit"] == f"LD_LIBRARY_PATH[0]={env.root}/opt"
    assert finding.evidence["symbol"] == "GLIBCXX_3.4.30"
    assert finding.hint[1] == "unset LD_LIBRARY_PATH"
    assert env.told(ROOT) == finding.evidence["error"]
    env.environment.clear()
    assert env.judged() == ()


@pytest.mark.parametrize("options", [(), ("-Wl,-z,now",)])
def test_a_python_that_does_not_even_start(env, options):
    """Bound at once it dies of it at the start, else at the first call."""
    own = env.cuda("env/lib/libz.so.1", "int deflateNew(){return 1;}")
    code = "int deflateNew();int use(){return deflateNew();}"
    env.program("venv/bin/python", [own], code=code, runpath="%/env/lib", options=options)
    env.cuda("opt/libz.so.1", "int other;")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    finding = env.only()
    assert (finding.code, finding.severity, finding.evidence["symbol"]) == ("CVM012", "error", "deflateNew")
    assert finding.evidence["culprit"] == f"LD_LIBRARY_PATH[0]={env.root}/opt"
    env.environment.clear()
    assert env.judged() == ()


def test_the_consumers_own_words(env):
    error = "ValueError: libcublas.so.*[0-9] not found in the system path"
    env.open("libsomething.so.3", handled=True)
    finding = env.only(env.consumer(error=error))
    assert (finding.code, finding.severity, finding.evidence["error"]) == ("CVM012", "error", error)
    assert finding.summary == f"torch 2.5.1 won't import: {error}"


def test_the_consumers_own_words_about_what_the_variable_did(env):
    """All that was tried is handled, and works without the variable."""
    env.wheel("cublas", "libcublasLt.so.12", "int cublasLtNew(){return 1;}")
    lt = f"{SITE}/nvidia/cublas/lib/libcublasLt.so.12"
    env.wheel("cublas", "libcublas.so.12", "int cublasLtNew();int f(){return cublasLtNew();}", [lt])
    env.cuda("opt/libcublasLt.so.12", "int old;")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open(f"{SITE}/nvidia/cublas/lib/libcublas.so.12", handled=True)
    env.open("libsomething.so.3", handled=True)
    finding = env.only(env.consumer(error="RuntimeError: no GPU backend"))
    assert (finding.code, finding.evidence["symbol"]) == ("CVM002", "cublasLtNew")
