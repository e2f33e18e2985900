"""Triton: an extension module without CUDA; its first kernel looks for the driver in ldconfig's cache."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module
from cvm.consumers.source_text import source_text
from cvm.consumers.wanting import load_torch

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("triton", "pytorch-triton")

_SOURCES = ("triton/backends/nvidia/driver.py", "triton/common/build.py", "triton/compiler/compiler.py")
# Older releases want the name without a number, to link with; newer ones the driver's own.
_ASKED = re.compile(r"""os\.path\.join\(path, ["'](libcuda\.so(?:\.1)?)["']\)""")
_DRIVER = "libcuda.so.1"
_IMPORTS_TORCH = re.compile(r"^import torch\b", re.MULTILINE)


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import triton` does, and then what its first kernel asks for; raises LoadError."""
    package = f"{distribution.folder}/triton/__init__.py"
    if _IMPORTS_TORCH.search(source_text(session.world.files, package)):
        load_torch(session)
    folder = f"{distribution.folder}/triton/_C"
    for name in sorted(session.world.files.names(folder)):
        if name.startswith("libtriton.") and name.endswith(".so"):
            open_module(f"{folder}/{name}", session, package)
    session.import_ends()
    for source in (f"{distribution.folder}/{name}" for name in _SOURCES):
        asked = _ASKED.search(source_text(session.world.files, source))
        if asked:
            _look(asked[1], source, session)
            return


def _look(asked: str, source: str, session: Session) -> None:
    """Look where Triton looks; without a driver at all there is nothing to complain about."""
    if not session.open(_DRIVER, f'dlopen("{_DRIVER}")', source, handled=True).ok:
        return
    files = session.world.files
    if all(isinstance(files.identity(f"{folder}/{asked}"), int) for folder in _folders(session)):
        session.complains("AssertionError: libcuda.so cannot found!")


def _folders(session: Session) -> list[str]:
    environment, runtime = session.world.environment, session.world.runtime
    chosen = environment.get("TRITON_LIBCUDA_PATH")
    if chosen:
        return [chosen]
    cached = runtime.cache and runtime.cache.find(_DRIVER, runtime.machine, runtime.bits, runtime.hwcaps)
    if cached:
        return [cached.rpartition("/")[0]]
    folders = environment.get("LD_LIBRARY_PATH", "").split(":")
    return [one for one in folders if not isinstance(session.world.files.identity(f"{one}/{_DRIVER}"), int)]
