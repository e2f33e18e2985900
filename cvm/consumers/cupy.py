"""CuPy: an extension module for each CUDA library; since CuPy 14 cuda-pathfinder loads the library before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module
from cvm.consumers.families import DRIVER, family_of
from cvm.consumers.record import libraries
from cvm.consumers.source_text import source_text
from cvm.consumers.wanting import wanting
from cvm.elf.error import ElfError
from cvm.elf.process import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy-cuda14x")

# Imported in a `try`: CuPy does without.
_OPTIONAL = ("cutensor", "cusparselt", "nccl", "cudnn")


def load(distribution: Distribution, session: Session) -> None:
    """Import the modules that need CUDA: with `import cupy` up to 13, each at its first use since; raises LoadError."""
    files = session.world.files
    modules = [path for path in libraries(distribution, files) if wanting(files, path).cuda]
    loader = f"{distribution.folder}/cupy_backends/cuda/libs/__init__.py"
    if "pathfinder" not in source_text(files, loader):
        for path in modules:
            open_module(path, session, f"{distribution.folder}/cupy/__init__.py", handled=_is_optional(path))
        return
    session.import_ends()
    for path in modules:
        _use(path, loader, session)


def _use(path: str, loader: str, session: Session) -> None:
    for name in _needed(path, session):
        _find(name, loader, session)
    name = path.rpartition("/")[2].partition(".")[0]
    failure = session.open(path, f"import {name}", loader, handled=_is_optional(path)).failure
    if failure is not None and not _is_optional(path):
        session.complains(f"ImportError: {failure.text}")


def _find(name: str, source: str, session: Session) -> None:
    """Open a library as cuda-pathfinder does: from NVIDIA's wheels, from conda, by its name, from CUDA_PATH."""
    found = _candidates(session, name)
    for path in (*found[0], name, *found[1]):
        # What it loads is there for all.
        call = f"load_nvidia_dynamic_lib({name!r})"
        if session.open(path, call, source, mode=Mode.NOW | Mode.GLOBAL, handled=True).ok:
            return


def _candidates(session: Session, name: str) -> tuple[list[str], list[str]]:
    world = session.world
    searched = world.python.search if world.python else ()
    wheels = [f"{one.path}/nvidia/{below}/lib" for one in searched for below in world.files.names(f"{one.path}/nvidia")]
    roots = (world.environment.get("CUDA_HOME"), world.environment.get("CUDA_PATH"))
    toolkits = [f"{root}/{below}" for root in roots if root for below in ("lib64", "lib")]
    return _there(session, wheels, name)[:1], _there(session, toolkits, name)


def _there(session: Session, folders: Sequence[str], name: str) -> list[str]:
    paths = [f"{folder}/{name}" for folder in folders]
    return [path for path in paths if not isinstance(session.world.files.identity(path), int)]


def _needed(path: str, session: Session) -> Sequence[str]:
    try:
        dynamic = session.world.files.elf(path).dynamic
    except (OSError, ElfError):
        return ()
    names = dynamic.needed if dynamic else ()
    return [name for name in names if family_of(name) not in (None, DRIVER)]


def _is_optional(path: str) -> bool:
    return path.rpartition("/")[2].partition(".")[0] in _OPTIONAL
