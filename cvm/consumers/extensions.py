"""Any package with extension modules or libraries that need CUDA or PyTorch, and any single ELF file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.record import libraries
from cvm.consumers.session import LoadError, Session
from cvm.consumers.wanting import lacks_only_others, load_torch, refers_to_torch, wanting

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.elf.files import Files

DISTRIBUTIONS: tuple[str, ...] = ()

# NVIDIA's own packages are what others load, and packages that only bundle what their own recipes know.
_NOT = re.compile(r"nvidia-|cuda-(toolkit|pathfinder)$|tensorrt.*-libs$|numpy$|scipy$")
_DIGITS = re.compile(r"\d+")


def find(python: PythonEnvironment, files: Files, known: Container[str]) -> tuple[Distribution, ...]:
    """Return the packages that this recipe is for: they need CUDA or PyTorch, and are none of the known names."""
    first = {one.name: one for one in reversed(python.distributions)}
    candidates = [one for one in python.distributions if first[one.name] is one]
    return tuple(
        one for one in candidates if one.name not in known and not _NOT.match(one.name) and _may_want(one, files)
    )


def _may_want(distribution: Distribution, files: Files) -> bool:
    """Whether a package needs CUDA or PyTorch, also where that can't be told: its load will say why."""
    try:
        return next(_wanted(distribution, files), None) is not None
    except Exception:  # noqa: BLE001 - whatever is wrong with one package, the others are found
        return True


def load(distribution: Distribution, session: Session) -> None:
    """Open every extension module that needs CUDA or PyTorch, then the other libraries; raises LoadError.

    Which of them an import really loads, and which it does without, is not known: files whose names differ only in a
    number are taken for alternatives, and what lacks neither CUDA nor PyTorch for an optional part.
    """
    files = session.world.files
    paths = list(_wanted(distribution, files))
    if any(wanting(files, path).torch for path in paths):
        load_torch(session)
    modules = [path for path in paths if _is_module(files, path)]
    stems = [_stem(path) for path in paths]
    for path in (*modules, *(path for path in paths if path not in modules)):
        _open(session, distribution, path, path in modules, stems)


def load_file(path: str, session: Session) -> None:
    """Load one ELF file by its path: raises LoadError, OSError, ElfError.

    A program is a process of its own: `session` must have been made for it. A library is opened from Python, with
    PyTorch imported before if it wants PyTorch and doesn't find it by itself.
    """
    files = session.world.files
    if files.elf(path).interpreter is not None and files.real(session.world.program) == files.real(path):
        _started(path, session)
        return
    if refers_to_torch(files, path) and not _loads_alone(path, session):
        load_torch(session)
    open_it = open_module if _is_module(files, path) else open_library
    open_it(path, session, path)


def open_module(path: str, session: Session, source: str, *, handled: bool = False) -> None:
    """Open an extension module as `import` does; raises LoadError where the code doesn't handle a failure."""
    name = path.rpartition("/")[2].partition(".")[0]
    outcome = session.open(path, f"import {name}", source, handled=handled)
    if outcome.failure and not handled:
        raise LoadError(f"ImportError: {outcome.failure.text}")


def open_library(path: str, session: Session, source: str, *, handled: bool = False) -> None:
    """Open a library as `ctypes.CDLL` does; raises LoadError where the code doesn't handle a failure."""
    outcome = session.open(path, f"ctypes.CDLL('{path}')", source, handled=handled)
    if outcome.failure and not handled:
        raise LoadError(f"OSError: {outcome.failure.text}")


def _wanted(distribution: Distribution, files: Files) -> Iterator[str]:
    for path in libraries(distribution, files):
        if "/stubs/" not in path and wanting(files, path):
            yield path


def _is_module(files: Files, path: str) -> bool:
    name = path.rpartition("/")[2].partition(".")[0]
    return files.elf(path).defines(f"PyInit_{name}")


def _open(session: Session, distribution: Distribution, path: str, module: bool, stems: Sequence[str]) -> None:  # noqa: FBT001
    if any(one.path == path for one in session.process.loaded):
        return
    call = f"import {path.rpartition('/')[2].partition('.')[0]}" if module else f"ctypes.CDLL('{path}')"
    failure = session.open(path, call, str(distribution)).failure
    if failure is None:
        return
    if stems.count(_stem(path)) > 1 or lacks_only_others(failure):
        session.steps[-1] = session.steps[-1]._replace(handled=True)
        return
    raise LoadError(f"{'ImportError' if module else 'OSError'}: {failure.text}")


def _stem(path: str) -> str:
    return _DIGITS.sub("", path)


def _started(path: str, session: Session) -> None:
    failed = session.process.started.failure
    if failed is not None:
        raise LoadError(session.process.started.printed(path).rstrip("\n").rpartition("\n")[2])


def _loads_alone(path: str, session: Session) -> bool:
    return Session(session.world).process.dlopen(path).ok
