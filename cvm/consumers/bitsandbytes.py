"""bitsandbytes: one library for each CUDA version, chosen by the CUDA version of PyTorch, or by BNB_CUDA_VERSION."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.torch import cuda_of
from cvm.consumers.wanting import load_torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("bitsandbytes",)

_LIBRARY = re.compile(r"libbitsandbytes_cuda(\d+)\.so")
_OVERRIDE = "BNB_CUDA_VERSION"


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import bitsandbytes` does where PyTorch sees a GPU; raises LoadError.

    A library that can't be loaded is an error in the log, and a RuntimeError at the first use of it.
    """
    load_torch(session)
    package = f"{distribution.folder}/bitsandbytes"
    names = session.world.files.names(package)
    wanted = _wanted([found[1] for name in names if (found := _LIBRARY.fullmatch(name))], session)
    if wanted is None:
        return
    path = f"{package}/libbitsandbytes_cuda{wanted}.so"
    there = f"libbitsandbytes_cuda{wanted}.so" in names
    failure = session.open(path, f"ctypes.cdll.LoadLibrary('{path}')", f"{package}/cextension.py", handled=True).failure
    if not there:
        session.complains(f"RuntimeError: No compatible CUDA binary found at {path}")
    elif failure is not None:
        session.complains(f"OSError: {failure.text}")


def _wanted(available: Iterable[str], session: Session) -> str | None:
    """Choose: the version itself, else the nearest older one of that major, else the next newer one."""
    override = session.world.environment.get(_OVERRIDE)
    if override:
        return override
    python = session.world.python
    torch = python.distribution("torch") if python else None
    cuda = cuda_of(torch, session.world.files, python) if torch else None
    if not cuda:
        return None
    wanted = _split(cuda.replace(".", ""))
    same = sorted(version for version in map(_split, available) if version[0] == wanted[0])
    older = [version for version in same if version <= wanted]
    major, minor = (older[-1:] or same[:1] or [wanted])[0]
    return f"{major}{minor}"


def _split(digits: str) -> tuple[int, int]:
    return int(digits[:2]), int(digits[2:] or 0)
