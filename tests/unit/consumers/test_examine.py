"""A consumer with all that is gathered about it."""

from __future__ import annotations

import pytest

from cvm.consumers.examine import examine, examine_file
from cvm.consumers.registry import consumers_in, recipe_of
from tests.unit.consumers.stand_ins import cudnn, record

CHECK = """
if True:
    if True:
        base_error_msg = f"compiled with {compile_version}, found {runtime_version}. "
        raise RuntimeError(f"{base_error_msg}take it out")
        raise RuntimeError(f"{base_error_msg}maybe")
        raise RuntimeError(base_error_msg)
"""


@pytest.fixture
def torch(site):
    """A PyTorch that needs cuDNN 9.10 from the wheel beside it."""
    cudnn(site, "nvidia/cudnn/lib", (9, 10, 2))
    cudnn(site, "old", (9, 1, 0))
    site.extension("torch/_C.so", ["nvidia/cudnn/lib/libcudnn.so.9"], rpath="$ORIGIN/../nvidia/cudnn/lib")
    site.write("torch/__init__.py", "from torch._C import *\n")
    site.write("torch/version.py", "cuda = '12.8'\n")
    site.write("torch/backends/cudnn/__init__.py", CHECK)
    return site.distribution("torch", "2.8.0")._replace(requires=("nvidia-cudnn-cu12==9.10.2.21",))


def examined(site, distribution, *others, path=None):
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / path)} if path else {}
    return examine(distribution, recipe_of(distribution), site.session(distribution, *others).world)


def test_without_variables_both_loads_are_one(site, torch):
    found = examined(site, torch)
    assert found.load is found.clean
    assert (found.load.error, found.first_use_error, found.cuda) == (None, None, "12.8")
    assert (found.cudnn.compiled, found.cudnn.runtime) == ((9, 10, 2), (9, 10, 2))
    assert set(found.libraries) == {one.path for one in found.load.loaded if "libcudnn" in one.path}


def test_a_variable_that_brings_an_older_cudnn_shows_in_the_first_use(site, torch):
    found = examined(site, torch, path="old")
    assert found.load.error is None
    assert found.first_use_error == "RuntimeError: compiled with (9, 10, 2), found (9, 1, 0). maybe"
    graph = [one.path for load in (found.load, found.clean) for one in load.loaded if "graph" in one.path]
    folders = ("old", "torch/../nvidia/cudnn/lib")
    assert graph == [f"{site.folder}/{folder}/libcudnn_graph.so.9" for folder in folders]
    assert set(graph) <= set(found.libraries)


def test_a_missing_library_is_looked_for_elsewhere(site, torch):
    site.lib("torchaudio/lib/libtorchaudio.so", needs=["libcublas.so.12"])
    site.extension("torchaudio/lib/_torchaudio.so")
    site.lib("nvidia/cublas/lib/libcublas.so.12", soname="libcublas.so.12")
    found = examined(site, site.distribution("torchaudio"), torch)
    assert found.load.error == "OSError: libcublas.so.12: cannot open shared object file: No such file or directory"
    assert found.first_use_error is None
    assert found.elsewhere == {"libcublas.so.12": (str(site.folder / "nvidia/cublas/lib/libcublas.so.12"),)}


def test_a_companion_fails_with_the_words_of_torch(site, torch):
    site.extension("torch/_C.so", ["libcudart.so.12"])
    site.lib("torchvision/_C.so")
    errors = {examined(site, one, torch).load.error for one in (torch, site.distribution("torchvision"))}
    assert errors == {"ImportError: libcudart.so.12: cannot open shared object file: No such file or directory"}


def test_a_file_is_examined_like_a_package(site):
    path = site.lib("build/libmine.so", needs=["libcublas.so.12"])
    found = examine_file(path, site.session().world)
    assert (str(found), found.distribution) == ("libmine.so", None)
    assert found.load.error == "OSError: libcublas.so.12: cannot open shared object file: No such file or directory"
    assert found.elsewhere == {"libcublas.so.12": ()}


def test_torch_comes_first_then_its_companions_then_the_others(site, torch):
    site.lib("flash/_C.so", needs=["libcudart.so.12"])
    flash = record(site, "flash", ["flash/_C.so"])
    others = [site.distribution(name) for name in ("triton", "torchaudio", "onnxruntime-gpu", "numpy", "torchvision")]
    shadowed = torch._replace(version="1.0")
    world = site.session(flash, *others, torch, shadowed).world
    found = consumers_in(world.python, world.files)
    names = ["torch 2.8.0", "torchvision 1.0", "torchaudio 1.0", "onnxruntime-gpu 1.0", "triton 1.0", "flash 1.0"]
    assert [str(one) for one, _ in found] == names
    assert [recipe.is_known for _, recipe in found] == [True] * 5 + [False]
