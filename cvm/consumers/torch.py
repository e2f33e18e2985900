"""torch: what is preloaded, and how, stands in its own `__init__.py`, so that is what is followed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from cvm.consumers.script.constants import constants
from cvm.consumers.script.finder import Finder
from cvm.consumers.script.interpreter import Interpreter
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.elf.files import Files

DISTRIBUTIONS = ("torch",)

_EXTENSION = "torch._C"
_CORE, _FUSER = "libtorch_cpu.so", "libnvfuser_codegen.so"


def load(distribution: Distribution, session: Session) -> None:
    """Import torch, up to its extension module, behind which no library follows; raises LoadError."""
    if Interpreter("torch", session, distribution.folder).play(until=_EXTENSION):
        _open_fuser(session)
    session.import_ends()


def cuda_of(distribution: Distribution, files: Files, python: PythonEnvironment | None = None) -> str | None:
    """Return the CUDA version that a torch was built for, None for a build for the CPU, "" where nothing tells.

    With a Python, the torch is the one that it would import, which of an editable install lies elsewhere.
    """
    folder = posixpath.join(distribution.folder, "torch")
    if python is not None:
        found = Finder(files, [one.path for one in python.search], python.version, 0).package("torch")
        folder = found or folder
    value = constants(files, posixpath.join(folder, "version.py")).get("cuda", "")
    return value if value is None or isinstance(value, str) else ""


def _open_fuser(session: Session) -> None:
    """Open nvFuser where torch ships it: a static object of the core does so as soon as it is mapped.

    Where that fails, torch warns and goes on: https://github.com/pytorch/pytorch/blob/v2.0.1/torch/csrc/jit/codegen/cuda/interface.cpp
    """
    core = session.process.find(_CORE)
    if core is None or _FUSER not in session.world.files.names(posixpath.dirname(core.path)):
        return
    name = session.world.environment.get("TORCH_NVFUSER_LIBRARY_PATH", "") + _FUSER
    mode = Mode.NOW | Mode.LOCAL
    session.open(name, f'dlopen("{name}")', core.path, mode=mode, caller=core.path, handled=True)
