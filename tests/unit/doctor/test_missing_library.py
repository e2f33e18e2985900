"""Libraries that are found nowhere."""

from __future__ import annotations

import pytest

from tests.unit.doctor.worlds import SITE

NAME = "libcublas.so.12"


def root(env, **options):
    path = f"{SITE}/thing/_C.so"
    env.lib(path, "", [NAME], rpath="$ORIGIN")
    env.open(path, **options)
    return path


def test_nowhere(env):
    path = root(env)
    finding = env.only(env.consumer("thing", "1.0"))
    assert (finding.code, finding.severity) == ("CVM001", "error")
    assert finding.summary == "thing 1.0 won't import: _C.so needs libcublas.so.12, which is nowhere"
    assert finding.evidence["missing"] == NAME
    assert finding.evidence["needed_by"] == f"{env.root}/{path}"
    assert env.told(path) == finding.evidence["error"]


def test_in_a_folder_that_nobody_searches(env):
    root(env)
    env.wheel("cublas", NAME)
    there = f"%/{SITE}/nvidia/cublas/lib/{NAME}"
    finding = env.only(env.consumer("thing", "1.0", elsewhere={NAME: (there,)}))
    assert finding.summary.endswith(f"libcublas.so.12, which lies at {env.text(there)}, a folder that nobody searches")
    assert finding.hint == (f"export LD_LIBRARY_PATH={env.root}/{SITE}/nvidia/cublas/lib",)


def test_found_by_the_variable(env):
    path = root(env)
    env.cuda(f"opt/{NAME}")
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    assert env.told(path) is None
    assert env.judged() == ()


def test_a_provider_that_may_be_missing(env):
    """A machine without CUDA: nothing of it is anywhere, and the code goes on."""
    root(env, handled=True)
    assert env.judged() == ()


def test_a_provider_whose_libraries_lie_where_nobody_looks(env):
    root(env, handled=True)
    there = {NAME: (f"%/{SITE}/nvidia/cublas/lib/{NAME}",)}
    finding = env.only(env.consumer("onnxruntime", "1.20.0", elsewhere=there))
    assert (finding.code, finding.severity) == ("CVM001", "warning")
    assert finding.summary.startswith("onnxruntime 1.20.0 goes on without _C.so: ")
    # Whoever has the libraries wants them, here or in what is built here.
    assert env.only(env.consumer("onnxruntime", "1.20.0", elsewhere=there), gpu=False).severity == "warning"


def test_the_driver_is_missing_in_a_build_container(env):
    path = f"{SITE}/thing/_C.so"
    env.lib(path, "", ["libcuda.so.1"])
    env.open(path)
    finding = env.only(env.consumer("thing", "1.0"))
    assert (finding.code, finding.severity) == ("CVM001", "note")
    assert finding.summary == ("thing 1.0 won't import: _C.so needs libcuda.so.1 of NVIDIA's driver, which isn't here")
    assert env.only(env.consumer("thing", "1.0"), gpu=True).severity == "error"


def test_what_the_variable_brings_needs_more(env):
    """The stranger itself lacks something; without the variable all is well."""
    wheel = env.wheel("cublas", NAME)
    path = f"{SITE}/thing/_C.so"
    env.lib(path, "", [wheel], runpath="$ORIGIN/../nvidia/cublas/lib")
    env.cuda(f"opt/{NAME}", "int other;", ["libstrange.so.7"])
    env.environment["LD_LIBRARY_PATH"] = "%/opt"
    env.open(path)
    finding = env.only()
    assert (finding.code, finding.evidence["culprit"]) == ("CVM001", f"LD_LIBRARY_PATH[0]={env.root}/opt")
    assert finding.hint[1] == "unset LD_LIBRARY_PATH"
    assert env.told(path) == finding.evidence["error"]


def words(env, name, **changes):
    return env.consumer(name, "1.0", **changes)._replace(
        first_use_error=f"Failed to load: {NAME}: cannot open shared object file: No such file or directory"
    )


def test_words_at_the_first_use_quote_it(env):
    """The code goes on with the CPU; where there is no GPU, that is no reason to worry."""
    root(env, handled=True)
    finding = env.only(words(env, "onnxruntime"))
    assert (finding.code, finding.severity) == ("CVM001", "warning")
    assert finding.summary == ("onnxruntime 1.0 goes on without _C.so: it needs libcublas.so.12, which is nowhere")
    assert env.only(words(env, "onnxruntime"), gpu=False).severity == "note"
    assert env.only(words(env, "onnxruntime-gpu"), gpu=False).severity == "warning"


def test_one_of_many_is_missing(env):
    """The other CUDA libraries are there: the environment is made for a GPU, whatever this machine has."""
    root(env, handled=True)
    env.open(env.wheel("cudnn", "libcudnn.so.9"))
    assert env.only(words(env, "tensorflow"), gpu=False).severity == "warning"


@pytest.mark.parametrize("order", [1, -1])
def test_tried_by_name_and_by_path(env, order):
    """As jax does: that there is nothing by the name alone is no fault."""
    path = env.wheel("cublas", NAME, "int cublasLtNew();int f(){return cublasLtNew();}")
    for name in (NAME, path)[::order]:
        env.open(name, handled=True)
    finding = env.only(env.consumer("jax", "0.5", elsewhere={NAME: (f"%/{path}",)}))
    assert (finding.code, finding.evidence["symbol"]) == ("CVM012", "cublasLtNew")


def test_other_than_cuda_by_a_bare_name(env):
    env.open("libcrypt_of_nobody.so")
    finding = env.only()
    assert (finding.code, finding.severity) == ("CVM001", "error")
