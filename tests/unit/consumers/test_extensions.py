"""Packages without a recipe of their own, and single files, against the real Python."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cvm.consumers import extensions
from cvm.consumers.session import LoadError
from tests.unit.consumers.stand_ins import loaded, record, steps

TORCH = "from torch._C import *\n"


@pytest.fixture
def torch(site):
    """A PyTorch whose library lies in a folder that only it knows."""
    site.lib("torch/lib/libc10.so", "int c10_thing(void) { return 1; }", soname="libc10.so")
    site.extension("torch/_C.so", ["torch/lib/libc10.so"], rpath="$ORIGIN/lib")
    site.write("torch/__init__.py", TORCH)
    return site.distribution("torch")


def told(site, session, act):
    try:
        act(session)
    except LoadError as error:
        return str(error)
    return None


def real(site, path, before=""):
    """Open a file in the Python that runs the tests, and return the last line of what it says."""
    code = f"import sys; sys.path.insert(0, {str(site.folder)!r}); {before}import ctypes; ctypes.CDLL({path!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], env=site.environment, capture_output=True, text=True, check=False
    )
    return done.stderr.splitlines()[-1] if done.stderr else None


def test_consumers_are_found_by_what_their_files_need(site, torch):
    site.lib("flash/_C.so", needs=["libc10.so"])
    site.lib("plain/_C.so", needs=["libm.so.6"])
    site.lib("cudaish/x.so", needs=["libcudart.so.12"])
    site.lib("nvidia/cublas/lib/libcublas.so.12", needs=["libcublasLt.so.12"])
    names = {"flash": "flash/_C.so", "plain": "plain/_C.so", "cudaish": "cudaish/x.so"}
    made = [record(site, name, [path]) for name, path in names.items()]
    made += [record(site, "nvidia-cublas-cu12", ["nvidia/cublas/lib/libcublas.so.12"]), torch]
    world = site.session(*made).world
    found = extensions.find(world.python, world.files, {"torch"})
    assert [one.name for one in found] == ["flash", "cudaish"]


def test_an_extension_of_torch_gets_torch_first(site, torch):
    site.extension("flash/_C.so", ["libc10.so"])
    distribution = record(site, "flash", ["flash/_C.so"])
    session = site.session(distribution, torch)
    assert told(site, session, lambda session: extensions.load(distribution, session)) is None
    assert loaded(session) == ["torch/_C.so", "torch/lib/libc10.so", "flash/_C.so"]
    assert not any(step.first_use for step in session.steps)


def test_a_symbol_that_torch_lacks_ends_the_import(site, torch):
    site.extension("flash/_C.so", ["libc10.so"], code="int c10_gone(void); int use(void) { return c10_gone(); }")
    site.write("flash/__init__.py", "import torch\nfrom flash import _C\n")
    distribution = record(site, "flash", ["flash/_C.so"])
    session = site.session(distribution, torch)
    assert told(site, session, lambda session: extensions.load(distribution, session)) == site.real("flash").error


def test_what_lacks_neither_cuda_nor_torch_is_optional_and_numbers_are_alternatives(site):
    for name in ("needs_mpi.so", "for_cuda11.so", "for_cuda12.so"):
        major = "11.0" if "11" in name else "12"
        site.lib(f"pack/{name}", needs=[f"libcudart.so.{major}", *(["libmpi.so.40"] if "mpi" in name else ())])
    site.lib("lib/libcudart.so.12", soname="libcudart.so.12")
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "lib")}
    distribution = record(site, "pack", [f"pack/{name}" for name in ("needs_mpi.so", "for_cuda11.so", "for_cuda12.so")])
    session = site.session(distribution)
    assert told(site, session, lambda session: extensions.load(distribution, session)) is None
    assert [ok for _, ok, _, _ in steps(session)] == [False, True, False]
    assert all(handled for _, ok, handled, _ in steps(session) if not ok)


@pytest.mark.parametrize("there", [True, False])
def test_a_single_library_is_opened_from_python(site, there):
    path = site.lib("build/libmine.so", needs=["libcudart.so.12"])
    if there:
        site.lib("lib/libcudart.so.12", soname="libcudart.so.12")
    site.environment = {"LD_LIBRARY_PATH": str(site.folder / "lib")}
    session = site.session()
    assert told(site, session, lambda session: extensions.load_file(path, session)) == real(site, path)


def test_a_single_library_that_wants_torch_gets_it(site, torch):
    path = site.lib("build/libmine.so", "int _ZN2at4goneEv(void); int x(void) { return _ZN2at4goneEv(); }")
    session = site.session(torch)
    error = told(site, session, lambda session: extensions.load_file(path, session))
    assert error == real(site, path, "import torch; ")
    assert loaded(session) == ["torch/_C.so", "torch/lib/libc10.so"]


def test_a_single_library_that_finds_torch_is_opened_alone(site, torch):
    path = site.lib("build/libmine.so", needs=["libc10.so"], rpath=str(site.folder / "torch/lib"))
    session = site.session(torch)
    assert told(site, session, lambda session: extensions.load_file(path, session)) is None
    assert loaded(session) == ["build/libmine.so", "torch/lib/libc10.so"]


def test_a_program_is_a_process_of_its_own(site, tmp_path):
    program = str(tmp_path / "program")
    stub = site.lib("stub/libcudart.so.12", soname="libcudart.so.12")
    words = ["gcc", "-x", "c", "-", "-x", "none", "-Wl,--no-as-needed", stub, "-o", program]
    subprocess.run(words, input="int main(void) { return 0; }", text=True, check=True)
    session = site.session()
    session = type(session)(session.world._replace(program=program))
    done = subprocess.run([program], env={}, capture_output=True, text=True, check=False)
    assert told(site, session, lambda session: extensions.load_file(program, session)) == done.stderr.strip()
    assert os.path.exists(stub)  # noqa: PTH110
