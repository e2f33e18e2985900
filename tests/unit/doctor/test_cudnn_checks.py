"""cuDNN: older than compiled, of two installations, and with a foreign engine."""

from __future__ import annotations

import pytest

from cvm.consumers.consumer import CudnnVersions
from cvm.doctor.cudnn_rule import is_older
from cvm.elf.process import Mode
from tests.unit.doctor.worlds import SITE

PINNED = "python -m pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.10.2.21"
WHEEL = f"{SITE}/nvidia/cudnn/lib"
PARTS = ("graph", "ops", "cnn")


def cudnn(env, folder, version, parts=("", *PARTS), code=""):
    names = [f"libcudnn{'_' * bool(part)}{part}.so.9" for part in parts]
    for name in names:
        env.cuda(f"{folder}/{name}", code + f'char made[]="{version}";', version=version, runpath="$ORIGIN")


@pytest.fixture
def torch(env):
    """The shim is found by torch's RPATH; it opens the others by name, by its RUNPATH."""
    cudnn(env, WHEEL, "9.10.2.21")
    env.open(env.torch("libtorch_cuda.so", "", [f"{WHEEL}/libcudnn.so.9"]))
    for part in PARTS:
        env.open(
            f"libcudnn_{part}.so.9", Mode.LAZY, f"{SITE}/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.9", later=True
        )
    return env


def shadow(env, version, parts=("", *PARTS), folder="opt/cudnn/lib", code=""):
    cudnn(env, folder, version, parts, code)
    env.environment["LD_LIBRARY_PATH"] = f"%/{folder}"


def consumer(env, compiled=(9, 10, 2)):
    return env.consumer("torch", "2.10.0", cudnn=compiled, requires=("nvidia-cudnn-cu12==9.10.2.21; x",))


def test_an_older_one_in_front(torch):
    shadow(torch, "9.1.0.70")
    finding = torch.only(consumer(torch))
    assert (finding.code, finding.severity) == ("CVM004", "error")
    assert finding.summary == (
        "torch 2.10.0 refuses cuDNN: it was compiled with 9.10.2, and LD_LIBRARY_PATH brings 9.1.0"
    )
    assert finding.evidence == {
        "compiled": "9.10.2",
        "compiled_from": "nvidia-cudnn-cu12==9.10.2",
        "runtime": "9.1.0",
        "winner": f"{torch.root}/opt/cudnn/lib/libcudnn_graph.so.9",
        "found_via": f"LD_LIBRARY_PATH[0]={torch.root}/opt/cudnn/lib",
        "culprit": f"LD_LIBRARY_PATH[0]={torch.root}/opt/cudnn/lib",
        "wanted": f"{torch.root}/{SITE}/nvidia/cudnn/lib/libcudnn_graph.so.9",
    }
    assert finding.hint == (
        "unset LD_LIBRARY_PATH",
        f'export LD_LIBRARY_PATH={torch.root}/{WHEEL}:"$LD_LIBRARY_PATH"',
    )
    # That the shim is still the wheel's own follows from the same.
    assert [(one.code, one.severity) for one in finding.consequences] == [("CVM005", "warning")]


def test_the_wheels_own(torch):
    assert torch.judged(consumer(torch)) == ()


def test_the_same_version_in_front(torch):
    shadow(torch, "9.10.2.21")
    assert torch.judged(consumer(torch)) == ()


def test_a_newer_one_behind_an_older_shim(torch):
    shadow(torch, "9.23.0.39")
    finding = torch.only(consumer(torch))
    assert (finding.code, finding.severity) == ("CVM005", "warning")
    assert finding.summary == (
        f"torch 2.10.0 mixes two cuDNN: libcudnn.so.9 9.10.2.21 by RPATH of {torch.root}/{SITE}/torch/lib/libtorch_cuda.so, "
        "libcudnn_graph.so.9 9.23.0.39 by LD_LIBRARY_PATH"
    )


def test_a_package_that_is_too_old(torch):
    finding = torch.only(consumer(torch, (9, 20, 0)))
    assert (finding.code, finding.hint) == ("CVM004", (PINNED,))


def test_only_some_in_front(torch):
    shadow(torch, "9.12.0.46", ("cnn",))
    finding = torch.only(consumer(torch))
    assert (finding.code, finding.severity) == ("CVM005", "error")
    assert finding.evidence["winner"] == f"{torch.root}/opt/cudnn/lib/libcudnn_cnn.so.9"


def test_only_some_in_front_of_the_same_version(torch):
    shadow(torch, "9.10.2.21", ("cnn",))
    assert torch.judged(consumer(torch)) == ()


def test_a_link_to_the_same_folder(torch):
    torch.symlink("opt/link", f"%/{WHEEL}")
    torch.environment["LD_LIBRARY_PATH"] = "%/opt/link"
    assert torch.judged(consumer(torch)) == ()


def test_a_function_that_is_missing_between_two(env):
    """The loader's complaint is the call's, later: what is opened lazily binds lazily."""
    ops = env.cuda(f"{WHEEL}/libcudnn_ops.so.9", "int cudnnHelper(){return 1;}", version="9.1")
    code = "int cudnnHelper();int cudnnConv(){return cudnnHelper();}"
    cnn = env.cuda(f"{WHEEL}/libcudnn_cnn.so.9", code, [ops], version="9.1", runpath="$ORIGIN")
    env.cuda("opt/libcudnn_ops.so.9", "int other(){return 1;}", version="9.0")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open(cnn, Mode.LAZY)
    finding = env.only()
    assert (finding.code, finding.severity, finding.evidence["symbol"]) == ("CVM005", "error", "cudnnHelper")
    # The tests' loader binds at once in Python: the same words.
    assert env.told(cnn) == finding.evidence["error"]
    env.environment.clear()
    assert env.judged() == ()


def engine(env, version="9.23.0.39"):
    path = env.cuda("usr/lib/libcudnn_engines_tensor_ir.so.9", "", version=version)
    env.in_cache(libcudnn_engines_tensor_ir_so_9=path)
    core = f"{SITE}/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.9"
    env.open("libcudnn_engines_tensor_ir.so.9", Mode.LAZY, core, handled=True, later=True)


def test_a_foreign_engine(torch):
    engine(torch)
    finding = torch.only(consumer(torch))
    assert (finding.code, finding.severity) == ("CVM006", "error")
    assert finding.summary == (
        "torch 2.10.0 fails at the first use of a foreign engine: ld.so.cache lends libcudnn_engines_tensor_ir.so.9 "
        f"of cuDNN 9.23.0.39, which the cuDNN in {torch.root}/{WHEEL} doesn't have"
    )
    assert finding.evidence["culprit"] == f"ld.so.cache: {torch.root}/usr/lib"


def test_a_foreign_engine_that_lacks_something(torch):
    """cuDNN opens it with RTLD_NOW: it never comes in, and what is missing is known."""
    core = f"{SITE}/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.9"
    name = "libcudnn_engines_tensor_ir.so.9"
    newer = torch.cuda("usr/lib/libcudnn_graph.so.9", "int cudnnNew(){return 1;}")
    path = torch.cuda(f"usr/lib/{name}", "int cudnnNew();int f(){return cudnnNew();}", [newer], version="9.23.0.39")
    torch.in_cache(libcudnn_engines_tensor_ir_so_9=path)
    torch.open(name, Mode.NOW, core, later=True)
    torch.opens[-1][1]["handled"] = False
    finding = torch.only(consumer(torch))
    assert (finding.code, finding.severity) == ("CVM006", "error")
    assert finding.evidence["error"] == (
        f"{torch.root}/{path}: undefined symbol: cudnnNew, version libcudnn_graph.so.9"
    )


def test_an_engine_of_the_same_version(torch):
    engine(torch, "9.10.2.21")
    assert torch.judged(consumer(torch)) == ()


def test_an_engine_of_its_own_before_that_in_the_cache(torch):
    torch.cuda(f"{WHEEL}/libcudnn_engines_tensor_ir.so.9", version="9.10.2.21")
    engine(torch)
    assert torch.judged(consumer(torch)) == ()


def test_an_optional_engine_that_is_nowhere(torch):
    core = f"{SITE}/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.9"
    torch.open("libcudnn_engines_tensor_ir.so.9", Mode.LAZY, core, handled=True, later=True)
    assert torch.judged(consumer(torch)) == ()


@pytest.mark.parametrize(
    ("compiled", "runtime", "older"),
    [
        ((9, 10, 2), (9, 1, 0), True),
        ((9, 10, 2), (9, 10, 0), False),
        ((8, 5, 0), (8, 9, 7), False),
        ((8, 5, 0), (9, 9, 0), True),
        ((9, 1, 0), (8, 9, 7), True),
        ((7, 1, 2), (7, 6, 5), True),
        ((7, 6, 2), (7, 6, 5), False),
        (None, (9, 1, 0), False),
        ((9, 1, 0), None, False),
    ],
)
def test_the_rule(compiled, runtime, older):
    assert is_older(CudnnVersions(compiled, "", runtime, None)) is older
    assert is_older(None) is False


def test_the_frameworks_own_words(torch):
    """The consumer's code itself compares the versions, and gives up."""
    shadow(torch, "9.1.0.70")
    error = "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 10, 2)"
    one = torch.consumer("torch", "2.10.0", cudnn=(9, 10, 2), error=error)
    finding = torch.only(one)
    assert (finding.code, finding.evidence["error"]) == ("CVM004", error)


def test_words_at_the_first_use(torch):
    shadow(torch, "9.1.0.70")
    error = "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 10, 2)"
    finding = torch.only(consumer(torch)._replace(first_use_error=error))
    assert (finding.code, finding.evidence["error"]) == ("CVM004", error)


def test_words_that_nobody_explains(torch):
    finding = torch.only(consumer(torch)._replace(first_use_error="Unable to load any of {libcudnn_x.so.9}"))
    assert (finding.code, finding.severity) == ("CVM012", "error")
    assert finding.summary == "torch 2.10.0 fails at the first use: Unable to load any of {libcudnn_x.so.9}"


def test_an_engine_in_front_of_the_wheels_own(torch):
    """The wheel ships it: that is a split, and no engine that it lacks."""
    name = "libcudnn_engines_precompiled.so.9"
    torch.cuda(f"{WHEEL}/{name}", version="9.10.2.21")
    torch.cuda(f"opt/{name}", "int older;", version="9.1.0.70")
    torch.environment["LD_LIBRARY_PATH"] = "%/opt"
    core = f"{SITE}/torch/lib/../../nvidia/cudnn/lib/libcudnn.so.9"
    torch.open(name, Mode.LAZY, core, handled=True, later=True)
    finding = torch.only(consumer(torch))
    assert (finding.code, finding.severity, finding.evidence["winner"]) == (
        "CVM005",
        "error",
        f"{torch.root}/opt/{name}",
    )


def test_one_of_three_tells_no_version(torch):
    """Nothing outside of the packages is in it, and still two versions are."""
    cudnn(torch, "opt/cudnn", "9.10.2.21")
    torch.versions[f"{torch.root}/{WHEEL}/libcudnn_cnn.so.9"] = None
    torch.cuda(f"{SITE}/other/libcudnn_adv.so.9", version="9.1.0.70")
    torch.open(f"{SITE}/other/libcudnn_adv.so.9", later=True)
    assert torch.only(consumer(torch)).code == "CVM005"
