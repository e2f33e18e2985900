"""Plays a consumer's load, and gathers what the checks need to judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers import torch
from cvm.consumers.consumer import Consumer
from cvm.consumers.cudnn import open_siblings, versions
from cvm.consumers.families import family_of
from cvm.consumers.libraries import Libraries, elsewhere
from cvm.consumers.load import Load
from cvm.consumers.session import LOADER_VARIABLES, LoadError, Session
from cvm.consumers.source_text import cuda_of
from cvm.consumers.torch_cudnn import torch_complaint
from cvm.consumers.wanting import is_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cvm.consumers.consumer import LibraryFile
    from cvm.consumers.registry import Recipe
    from cvm.consumers.session import World
    from cvm.core.packages import Distribution
    from cvm.elf.outcome import Missing


def examine(
    distribution: Distribution,
    recipe: Recipe,
    world: World,
    libraries: Libraries | None = None,
    folders: Sequence[str] = (),
) -> Consumer:
    """Load a package twice, with the variables as they are and without those that change the loader's search.

    `libraries` keeps what is known of files between several consumers; `folders` are places for `elsewhere` to look.
    """
    session, load = _played(world, lambda session: recipe.load(distribution, session))
    clean = load
    if _matters(world):
        clean = _played(world.clean, lambda session: recipe.load(distribution, session))[1]
    cudnn = versions(distribution, session)
    complaint = session.complaint
    if distribution.name == "torch":
        # PyTorch compares the versions before it uses anything else.
        complaint = torch_complaint(distribution, cudnn, session) or complaint
    path = f"{distribution.folder}/{distribution.name.replace('-', '_')}"
    consumer = Consumer(
        distribution.name,
        distribution.version,
        path if world.files.is_folder(path) else distribution.folder,
        distribution,
        load,
        clean,
        _described((load, clean), libraries or Libraries(world)),
        _elsewhere((load, clean), world, folders),
    )
    return consumer._replace(
        cuda=_cuda(distribution, world),
        cudnn=cudnn if cudnn.answered_by else None,
        first_use_error=None if load.error else complaint,
    )


def unfollowed(distribution: Distribution, reason: str) -> Consumer:
    """Return what is known of a package whose load can't be played: why."""
    load = Load((), None, (), 0, (reason,))
    name, version, folder = distribution.name, distribution.version, distribution.folder
    return Consumer(name, version, folder, distribution, load, load, {}, {})


def examine_file(path: str, world: World, libraries: Libraries | None = None, folders: Sequence[str] = ()) -> Consumer:
    """Load one ELF file, and judge it like a package; `world` is that of its program, or of Python for a library.

    Raises OSError and ElfError for what can't be read.
    """
    from cvm.consumers.extensions import load_file

    session, load = _played(world, lambda session: load_file(path, session))
    clean = _played(world.clean, lambda session: load_file(path, session))[1] if _matters(world) else load
    described = _described((load, clean), libraries or Libraries(world))
    name = path.rpartition("/")[2]
    return Consumer(name, None, path, None, load, clean, described, _elsewhere((load, clean), world, folders))._replace(
        first_use_error=None if load.error else session.complaint
    )


def _cuda(distribution: Distribution, world: World) -> str | None:
    if distribution.name == "torch":
        return torch.cuda_of(distribution, world.files, world.python)
    return cuda_of(distribution, world.files)


def _matters(world: World) -> bool:
    return any(world.environment.get(name) for name in LOADER_VARIABLES)


def _played(world: World, act: Callable[[Session], None]) -> tuple[Session, Load]:
    session = Session(world)
    error: str | None = None
    started = session.process.started
    if started.failure is not None:
        error = started.printed(world.program).rstrip("\n").rpartition("\n")[2]
    else:
        try:
            act(session)
            session.import_ends()
            session.complains(open_siblings(session))
        except LoadError as failed:
            error = str(failed)
    return session, session.result(error)


def _described(loads: Iterable[Load], libraries: Libraries) -> dict[str, LibraryFile]:
    paths = {one.path for load in loads for one in load.seen if family_of(one.path) or family_of(one.soname or "")}
    return {path: libraries.describe(path) for path in sorted(paths)}


def _elsewhere(loads: Iterable[Load], world: World, folders: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for missing in _missing(loads):
        if missing.name not in found and (family_of(missing.name) or is_torch(missing.name)):
            found[missing.name] = elsewhere(missing, world, folders)
    return found


def _missing(loads: Iterable[Load]) -> Iterable[Missing]:
    for load in loads:
        for step in load.steps:
            if step.outcome.failure is not None:
                yield from step.outcome.failure.libraries
