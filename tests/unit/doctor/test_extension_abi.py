"""Extensions that were built for another PyTorch."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from cvm.consumers.load import Load
from cvm.doctor.checks.extension_abi import plain
from tests.unit.doctor.worlds import SITE

QUIET = Load((), None, (), 0)
C10 = f"{SITE}/torch/lib/libc10.so"
OLD, NEW = (
    "_ZN3c105ErrorC2ENS_14SourceLocationESs",
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
)


def extension(env, symbol):
    path = f"{SITE}/flash_attn_2_cuda.so"
    env.lib(path, f"int {symbol}();int f(){{return {symbol}();}}", [C10], rpath="$ORIGIN/torch/lib")
    env.open(path)
    return path


@pytest.mark.parametrize(("symbol", "abi"), [(OLD, "old"), (NEW, "new")])
def test_of_the_other_abi(env, symbol, abi):
    env.torch("libc10.so", f"int {NEW if symbol == OLD else OLD}(){{return 1;}}")
    path = extension(env, symbol)
    finding = env.only(env.consumer("flash_attn_2_cuda", "2.7.0"))
    assert (finding.code, finding.severity, finding.evidence["symbol"]) == ("CVM011", "error", symbol)
    assert f"was built for another PyTorch than the one that is here, or with the {abi} C++ ABI" in finding.summary
    assert finding.summary.endswith(": c10::Error::Error is missing")
    assert finding.evidence["culprit"] == f"{env.root}/{path}"
    assert not any("uninstall" in line for line in finding.hint)
    assert env.told(path) == finding.evidence["error"]


def test_of_the_same(env):
    env.torch("libc10.so", f"int {NEW}(){{return 1;}}")
    assert env.told(extension(env, NEW)) is None
    assert env.judged(env.consumer("flash_attn_2_cuda", "2.7.0")) == ()


def test_the_variable_brings_another_torch(env):
    env.torch("libc10.so", f"int {NEW}(){{return 1;}}")
    path = f"{SITE}/flash_attn_2_cuda.so"
    env.lib(path, f"int {NEW}();int f(){{return {NEW}();}}", [C10], runpath="$ORIGIN/torch/lib")
    env.lib("opt/libc10.so", f"int {OLD}(){{return 1;}}", soname="libc10.so")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open(path)
    finding = env.only(env.consumer("flash_attn_2_cuda", "2.7.0"))
    assert (finding.code, finding.evidence["culprit"]) == ("CVM011", f"LD_LIBRARY_PATH[0]={env.root}/opt")
    assert finding.hint[1] == "unset LD_LIBRARY_PATH"
    assert env.told(path) == finding.evidence["error"]


def test_torch_itself_of_two_builds(env):
    env.torch("libc10.so", f"int {OLD}(){{return 1;}}")
    env.open(env.torch("libtorch_cpu.so", f"int {NEW}();int f(){{return {NEW}();}}", [C10]))
    finding = env.only()
    assert (finding.code, finding.hint) == (
        "CVM011",
        ("python -m pip install --force-reinstall --no-deps torch==2.5.1",),
    )


def test_torch_is_named(env):
    env.torch("libc10.so", "int other;")
    extension(env, "_ZN2at4_ops5gemm24callEv")
    finding = env.only(
        env.consumer("flash_attn_2_cuda", "2.7.0"), env.consumer("torch", "2.5.1")._replace(load=QUIET, clean=QUIET)
    )
    assert "was built for another PyTorch than 2.5.1: at::_ops::gemm2::call is missing" in finding.summary


@pytest.mark.parametrize(
    "symbol", [OLD, NEW, "_ZNK3c1010TensorImpl4sizeEv", "_ZN3c106detail1AD1Ev", "_ZTIN3c105ErrorE"]
)
def test_plain_names(symbol):
    if shutil.which("c++filt") is None:
        pytest.skip("needs c++filt")
    told = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=True).stdout
    assert plain(symbol) == told.partition("(")[0].strip().removeprefix("typeinfo for ")
    assert plain("cudnnCreate") == "cudnnCreate"
