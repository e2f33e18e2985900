"""The doctor's visit: facts of each target gathered from its files, every consumer loaded in the model, all judged."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.examine import examine, examine_file, unfollowed
from cvm.consumers.libraries import Libraries
from cvm.consumers.registry import consumers_in
from cvm.consumers.session import World
from cvm.doctor.case import Case
from cvm.doctor.case_path import path_elements
from cvm.doctor.finding import verdict
from cvm.doctor.judge import judge
from cvm.elf.error import ElfError
from cvm.elf.files import Disk
from cvm.elf.process import Process
from cvm.errors import CvmError, UsageError
from cvm.host.environment import find_environment, read_environment
from cvm.host.loader import read_runtime_of
from cvm.host.machine import read_machine
from cvm.host.python import active_python
from cvm.host.records import lost_files, shared_files
from cvm.layout import toolchains_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from cvm.consumers.consumer import Consumer
    from cvm.consumers.registry import Recipe
    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.doctor.finding import Finding
    from cvm.elf.files import Files
    from cvm.elf.outcome import Outcome
    from cvm.layout import Layout

_ELF = b"\x7fELF"
_DRIVER = "libcuda.so.1"

# Where an image has its Python: its own PATH is in a description that lies outside of it.
_IMAGE_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/opt/conda/bin", "/opt/venv/bin", "/venv/bin")


class Diagnosis(NamedTuple):
    """What came of one target, as it was named: its Python, if there is one, its consumers, and what is wrong."""

    target: str
    environment: PythonEnvironment | None
    consumers: tuple[Consumer, ...]
    findings: tuple[Finding, ...]
    unknown: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """`ok`, `warning`, `error` or `unknown`."""
        return verdict(self.findings, self.unknown)


class Visit(NamedTuple):
    """What all targets share: the files, and the variables and the folder that a process would start with.

    `toolchains` are folders of libraries that a missing one may lie in.
    """

    files: Disk
    variables: Mapping[str, str]
    folder: str
    toolchains: tuple[str, ...] = ()


def visit_to(layout: Layout, variables: Mapping[str, str], folder: Path | None, root: str = "/") -> Visit:
    """Prepare a visit to this machine, or to an image that is unpacked below a folder."""
    files = Disk(os.path.realpath(root))
    if files.root:
        return Visit(files, variables, "/")
    toolchains = (path for home in layout.homes() for path in sorted(toolchains_folder(home).glob("*/lib64")))
    return Visit(files, variables, str(folder or "/"), tuple(map(str, toolchains)))


def diagnose(targets: Sequence[str], visit: Visit) -> tuple[Diagnosis, ...]:
    """Diagnose interpreters, folders of environments and ELF files; without any, the active Python.

    Raises UsageError for what is none of these, IncompatibleError for a program that glibc's loader doesn't load.
    """
    return tuple(_diagnose(target, visit) for target in targets or (_active(visit),))


def diagnose_python(python: PythonEnvironment, visit: Visit, target: str = "") -> Diagnosis:
    """Diagnose every consumer of a Python environment."""
    world = _world(python.program, visit, python)
    libraries = Libraries(world)
    found = consumers_in(python, visit.files)
    consumers = tuple(_examined(one, recipe, world, libraries, visit) for one, recipe in found)
    return _judged(target or python.executable, world, visit, consumers)


def _examined(one: Distribution, recipe: Recipe, world: World, libraries: Libraries, visit: Visit) -> Consumer:
    try:
        return examine(one, recipe, world, libraries, visit.toolchains)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one package, the others are judged
        return unfollowed(one, f"its load can't be followed ({error!r})")


def _diagnose(target: str, visit: Visit) -> Diagnosis:
    path = posixpath.normpath(posixpath.join(visit.folder, target))
    if _is_elf(path, visit.files) and not _is_python(path, visit.files):
        return _diagnose_file(target, path, visit)
    executable = find_environment(target, visit.files, visit.folder)
    return diagnose_python(read_environment(executable, visit.variables, visit.files, visit.folder), visit, target)


def _diagnose_file(target: str, path: str, visit: Visit) -> Diagnosis:
    """Diagnose a program as its own process, a library as one that the active Python opens."""
    if visit.files.elf(path).interpreter is not None and not _is_library(path, visit.files):
        world = _world(path, visit, None)
    else:
        python = read_environment(_active(visit), visit.variables, visit.files, visit.folder)
        world = _world(python.program, visit, python)
    try:
        consumer = examine_file(path, world, Libraries(world), visit.toolchains)
    except (OSError, ElfError) as error:
        raise UsageError(f"`{target}` can't be read: {error}", hint=f"file {target}") from error
    return _judged(target, world, visit, (consumer,))


def _judged(target: str, world: World, visit: Visit, consumers: tuple[Consumer, ...]) -> Diagnosis:
    case = _case(world, visit, consumers)
    unknown = dict.fromkeys(f"{one}: {sentence}" for one in consumers for sentence in one.load.unknown)
    return Diagnosis(target, world.python, consumers, judge(case), tuple(unknown))


def _case(world: World, visit: Visit, consumers: tuple[Consumer, ...]) -> Case:
    files = visit.files
    libcuda = _libcuda(world)
    won = libcuda.root.path if libcuda and libcuda.root else None
    value = visit.variables.get("LD_LIBRARY_PATH", "")
    return Case(
        variables=visit.variables,
        consumers=consumers,
        python=world.python,
        path=path_elements(value, visit.folder, files.is_folder, files.names),
        machine=read_machine(files),
        shared=shared_files(world.python, files) if world.python else (),
        lost=lost_files(world.python, files) if world.python else (),
        libcuda=libcuda,
        libcuda_real=files.real(won) if won else None,
    )


def _libcuda(world: World) -> Outcome | None:
    """Open the driver's library from the bare program, as CUDA's runtime does."""
    process = Process(world.program, world.runtime, world.files, environment=world.environment, folder=world.folder)
    return process.dlopen(_DRIVER) if process.started.ok else None


def _world(program: str, visit: Visit, python: PythonEnvironment | None) -> World:
    try:
        runtime = read_runtime_of(program, visit.files)
    except (OSError, ElfError) as error:
        raise UsageError(f"`{program}` can't be read: {error}", hint=f"file {program}") from error
    return World(visit.files, program, runtime, visit.variables, visit.folder, python, {})


def _active(visit: Visit) -> str:
    if visit.files.root:
        found = next(_pythons_of_image(visit), None)
        where = f"in `{visit.files.root}`"
    else:
        python = active_python(visit.variables)
        found, where = (str(python) if python else None), "on PATH"
    if found is None:
        raise UsageError(f"there is no python3 {where}", hint="cvm doctor ENVIRONMENT")
    return found


def _pythons_of_image(visit: Visit) -> Iterator[str]:
    path = visit.variables.get("PATH")
    for name in ("python3", "python"):
        for folder in path.split(":") if path else _IMAGE_PATH:
            found = posixpath.join("/", folder, name)
            if not isinstance(visit.files.identity(found), int):
                yield found


def _is_elf(path: str, files: Files) -> bool:
    try:
        return not files.is_folder(path) and files.elf(path).data[:4] == _ELF
    except (OSError, ValueError):
        return False


def _is_python(path: str, files: Files) -> bool:
    try:
        find_environment(path, files)
    except CvmError:
        return False
    return True


def _is_library(path: str, files: Files) -> bool:
    """Whether a file that names a loader is a library all the same, as libc and libcuda's compat libraries are."""
    name = posixpath.basename(path)
    return ".so" in name and files.elf(path).dynamic is not None
