"""torch by its own code: releases old and to come, in wheels, in a conda environment, from source.

The packages are as small as can be; a real Python imports them too and is the judge.
"""

from __future__ import annotations

import pytest

from cvm.consumers.torch import DISTRIBUTIONS, cuda_of, load
from cvm.elf.files import Disk

OLD = "int complete_12_1(void) { return 1; }"
NEW = f"{OLD} int complete_12_4(void) {{ return 1; }}"
NODE = "libjit.so.12 { global: *; };"
USES = "int complete_12_4(void); int use(void) { return complete_12_4(); }"

# Only where the first library of all doesn't load are the wheels' libraries looked for, one by one.
WITH_A_WAY_OUT = """
import ctypes, glob, os, platform, sys
from typing import TYPE_CHECKING
from ._settings import HARD_WAY, FIRST
if TYPE_CHECKING:
    from .types import Device

def _open_one(folder, name):
    assert platform.system() == 'Linux'
    found = None
    for entry in sys.path:
        some = glob.glob(os.path.join(entry, 'nvidia', folder, 'lib', name))
        if some and not found:
            found = some[0]
        if found:
            break
    if not found:
        raise ValueError(f'{name} is nowhere in {sys.path}')
    ctypes.CDLL(found)

def _open_first():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib', 'libtorch_first' + ('.dylib' if platform.system() == 'Darwin' else '.so'))
    try:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        wanted = {'sparse': 'libsparse.so.*[0-9]', 'jit': 'libjit.so.*[0-9]'}
        if not [name for name in wanted.values() if name.split('.')[0] in error.args[0]]:
            raise error
        for folder, name in wanted.items():
            _open_one(folder, name)
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)

if (HARD_WAY or os.getenv('TORCH_HARD_WAY')) and platform.system() != 'Windows':
    before = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_GLOBAL | os.RTLD_LAZY)
    from torch._C import *
    sys.setdlopenflags(before)
else:
    if FIRST:
        _open_first()
    from torch._C import *
from torch import _C as _C
from .later import CDLL
"""
SETTINGS = "import os\nHARD_WAY = False\nFIRST = not os.getenv('TORCH_NO_FIRST')\n"

# Opens what it needs itself, in an order of its own, if the runtime came as a wheel.
OPENS_ALL_FIRST = """
import ctypes, os, sys
from pathlib import Path
from torch.version import cuda as _cuda

class _Wheel:
    order = ['jit', 'sparse'] if _cuda and int(_cuda.split('.')[0]) >= 12 else ['sparse']
    def __init__(self, *folders):
        self.folders = [Path(one) / 'nvidia' for one in folders]
    def open(self):
        for name in self.order:
            for path in (path for folder in self.folders for path in sorted(folder.glob(f'{name}/lib/lib{name}.so.*'))):
                ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
                break

with open('/proc/self/maps') as _file:
    if 'nvidia/jit/lib' not in _file.read():
        _Wheel(*sys.path).open()
from torch._C import _start
"""


@pytest.fixture
def wheels(site):
    """A torch whose libraries lie in wheels beside it: only what a library needs is in its own search path."""
    site.write(
        "torch/version.py", "from typing import Optional\n__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\n"
    )
    site.write("torch/_settings.py", SETTINGS)
    site.write("torch/later.py", "from ctypes import CDLL\n")
    site.write("torch/__init__.py", WITH_A_WAY_OUT)
    site.lib("nvidia/jit/lib/libjit.so.12", NEW, soname="libjit.so.12", script=NODE)
    jit, sparse = "nvidia/jit/lib/libjit.so.12", "nvidia/sparse/lib/libsparse.so.12"
    site.lib(sparse, USES, [jit], soname="libsparse.so.12", runpath="$ORIGIN/../../jit/lib")
    ways = "$ORIGIN/../../nvidia/sparse/lib:$ORIGIN"
    site.lib("torch/lib/libtorch_first.so", "int first;", soname="libtorch_first.so", rpath=ways)
    site.lib("torch/lib/libtorch_cpu.so", "int core;", [sparse], soname="libtorch_cpu.so", rpath=ways)
    site.extension(f"torch/_C{suffix()}", ["torch/lib/libtorch_cpu.so"], rpath="$ORIGIN/lib")
    site.lib("../toolkit/libjit.so.12", OLD, soname="libjit.so.12", script=NODE)
    return site


def suffix():
    from importlib.machinery import EXTENSION_SUFFIXES

    return EXTENSION_SUFFIXES[0]


def told(site):
    session = site.session()
    return session, site.told(session, lambda: load(site.distribution("torch"), session))


def names(found):
    return [path.rpartition("/")[2].partition(".")[0] for path in found.mapped]


def test_is_for_torch():
    assert DISTRIBUTIONS == ("torch",)


def test_the_wheels_libraries_are_loaded(wheels):
    session, model = told(wheels)
    assert model == wheels.real("torch")
    assert (model.error, len(model.mapped), session.unknown) == (None, 5, [])
    assert [step.call for step in session.steps] == [
        f"ctypes.CDLL('{wheels.folder}/torch/lib/libtorch_first.so')",
        "import torch._C",
    ]
    imported = len(session.process.loaded)
    session.open(f"{wheels.root}/toolkit/libjit.so.12", "dlopen", "later")
    assert (session.steps[-1].first_use, session.result(None).imported) == (True, imported)


def test_an_older_library_in_front_breaks_the_import(wheels):
    wheels.environment["LD_LIBRARY_PATH"] = "<root>/toolkit"
    session, model = told(wheels)
    assert model == wheels.real("torch")._replace(mapped=model.mapped)
    culprit = f"{wheels.folder}/torch/lib/../../nvidia/sparse/lib/libsparse.so.12"
    assert model.error == f"ImportError: {culprit}: undefined symbol: complete_12_4, version libjit.so.12"
    assert session.result(model.error).failed.call == "import torch._C"


def test_a_release_that_opens_all_first_is_safe_from_that(wheels):
    wheels.environment["LD_LIBRARY_PATH"] = "<root>/toolkit"
    wheels.write("torch/__init__.py", OPENS_ALL_FIRST.replace("_start", "__doc__"))
    session, model = told(wheels)
    assert model == wheels.real("torch")
    assert (model.error, session.unknown) == (None, [])
    assert not any("toolkit" in path for path in model.mapped)


def test_a_release_for_another_cuda_opens_other_libraries(wheels):
    wheels.write("torch/version.py", "cuda = '11.8'\n")
    wheels.write("torch/__init__.py", OPENS_ALL_FIRST.replace("_start", "__doc__"))
    wheels.environment["LD_LIBRARY_PATH"] = "<root>/toolkit"
    session, model = told(wheels)
    assert model.error == wheels.real("torch").error
    assert model.error == (
        f"OSError: {wheels.folder}/nvidia/sparse/lib/libsparse.so.12: "
        "undefined symbol: complete_12_4, version libjit.so.12"
    )
    assert [step.handled for step in session.steps] == [False]


def split(wheels):
    """Make the first library want a wheel's that it doesn't find."""
    wheels.lib(
        "torch/lib/libtorch_first.so", "int first;", ["nvidia/sparse/lib/libsparse.so.12"], soname="libtorch_first.so"
    )


def test_the_way_out_is_followed(wheels):
    split(wheels)
    session, model = told(wheels)
    assert model == wheels.real("torch")
    assert [(step.outcome.ok, step.handled) for step in session.steps] == [(False, True), *[(True, True)] * 4]
    assert (model.error, session.unknown) == (None, [])


def test_the_way_out_ends_where_a_wheel_is_missing(wheels):
    split(wheels)
    (wheels.folder / "nvidia/jit/lib/libjit.so.12").unlink()
    wheels.environment["LD_LIBRARY_PATH"] = "<root>/toolkit"
    _, model = told(wheels)
    assert model.error == wheels.real("torch").error
    assert "libsparse.so.12: undefined symbol" in model.error
    (wheels.folder / "nvidia/sparse/lib/libsparse.so.12").unlink()
    session, model = told(wheels)
    assert model.error == wheels.real("torch").error
    assert model.error.startswith("ValueError: libsparse.so.*[0-9] is nowhere in ['', '")
    # The value error says little; the library that was missing in the first place is what ended the import.
    assert session.result(model.error).failed.outcome.failure.libraries[0].name == "libsparse.so.12"


def test_a_failure_of_another_kind_is_raised_as_it_is(wheels):
    wheels.lib("torch/lib/libtorch_first.so", "int first;", ["libmkl.so.2"], soname="libtorch_first.so")
    session, model = told(wheels)
    assert model.error == wheels.real("torch").error
    assert model.error == "OSError: libmkl.so.2: cannot open shared object file: No such file or directory"
    assert [step.handled for step in session.steps] == [False]


@pytest.mark.parametrize("variable", ["TORCH_HARD_WAY", "TORCH_NO_FIRST"])
def test_variables_choose_the_way(variable, wheels):
    wheels.environment[variable] = "1"
    session, model = told(wheels)
    assert model == wheels.real("torch")
    assert [step.call for step in session.steps] == ["import torch._C"]
    # The symbols of the extension's libraries are everybody's after the hard way alone.
    wheels.lib("probe.so", "extern int core; int *use = &core;")
    probed = session.process.dlopen(f"{wheels.folder}/probe.so")
    assert probed.ok is (variable == "TORCH_HARD_WAY")


def test_libraries_of_a_prefix_are_found_by_rpath(site):
    site.write("torch/__init__.py", WITH_A_WAY_OUT)
    site.write("torch/_settings.py", SETTINGS)
    site.write("torch/later.py", "from ctypes import CDLL\n")
    site.lib("../lib/libjit.so.12", NEW, soname="libjit.so.12", script=NODE)
    site.lib("../lib/libsparse.so.12", USES, ["../lib/libjit.so.12"], soname="libsparse.so.12", rpath="$ORIGIN")
    site.lib("torch/lib/libtorch_first.so", "", soname="libtorch_first.so", rpath="$ORIGIN/../../../lib")
    site.extension(f"torch/_C{suffix()}", ["../lib/libsparse.so.12"], rpath="$ORIGIN/../../lib")
    site.lib("../toolkit/libjit.so.12", OLD, soname="libjit.so.12", script=NODE)
    site.environment["LD_LIBRARY_PATH"] = "<root>/toolkit"
    _, model = told(site)
    assert model == site.real("torch")
    assert (model.error, names(model)) == (None, ["libjit", "libsparse", "_C", "libtorch_first"])


def test_what_a_static_object_opens_is_opened(wheels):
    wheels.lib("torch/lib/libnvfuser_codegen.so", "int fuser;")
    session, model = told(wheels)
    assert f"{wheels.folder}/torch/lib/libnvfuser_codegen.so" in model.mapped
    last = session.steps[-1]
    assert (last.call, last.source, last.handled, last.first_use) == (
        'dlopen("libnvfuser_codegen.so")',
        f"{wheels.folder}/torch/lib/libtorch_cpu.so",
        True,
        False,
    )


def test_a_torch_that_is_edited_in_place_is_found_by_its_import_hook(wheels):
    source = wheels.root / "source"
    source.mkdir()
    (wheels.folder / "torch").rename(source / "torch")
    (wheels.folder / "nvidia").rename(source / "nvidia")
    session, model = told(wheels)
    assert model.error == wheels.real("torch").error == "ModuleNotFoundError: No module named 'torch'"
    wheels.write("__editable___torch_2_9_finder.py", "MAPPING: dict[str, str] = {'torch': '<root>/source/torch'}\n")
    session, model = told(wheels)
    assert (model.error, len(model.mapped), session.unknown) == (None, 5, [])
    python = session.world.python
    assert cuda_of(wheels.distribution("torch"), Disk(), python) == "12.4"
    wheels.write("__editable___torch_2_9_finder.py", "MAPPING = {}\n")
    session, model = told(wheels)
    assert (model.error, model.mapped) == (None, ())
    assert session.unknown == ["`torch` is in no folder that an import looks in"]


@pytest.mark.parametrize(
    ("text", "cuda"),
    [
        ("cuda = '11.7'\n", "11.7"),
        ("from typing import Optional\ncuda: Optional[str] = '12.4'\nhip: Optional[str] = None\n", "12.4"),
        ("cuda = None\n", None),
        ("debug = False\n", ""),
        ("cuda: str\n", ""),
        ("cuda = read()\n", ""),
        ("cuda = = '12'\n", ""),
        ("cuda = 12\n", ""),
    ],
)
def test_the_cuda_of_a_build_is_what_it_says_itself(text, cuda, site):
    site.write("torch/version.py", text)
    assert cuda_of(site.distribution("torch"), Disk()) == cuda


def test_the_cuda_of_a_build_that_says_nothing_is_unknown(site):
    assert cuda_of(site.distribution("torch"), Disk()) == ""
