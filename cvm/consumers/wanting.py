"""What a library asks for that makes it a CUDA consumer: libraries of CUDA, or PyTorch's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers.families import DRIVER, family_of
from cvm.consumers.session import LoadError
from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.elf.files import Files
    from cvm.elf.outcome import Failure

_TORCH = re.compile(r"lib(?:torch\w*|c10\w*|caffe2\w*|shm|nvfuser\w*)\.so")
# C++ names of PyTorch's namespaces, and the C names of its Python binding.
_TORCH_SYMBOLS = (b"_ZN3c10", b"_ZNK3c10", b"_ZN2at", b"_ZNK2at", b"_ZN5torch", b"_ZNK5torch", b"THPVariable", b"aoti_")


class Wanting(NamedTuple):
    """Whether a file needs libraries of CUDA's, and of PyTorch's."""

    cuda: bool
    torch: bool

    def __bool__(self) -> bool:
        return self.cuda or self.torch


def wanting(files: Files, path: str) -> Wanting:
    """Look at what a library needs by name; a file that can't be read needs nothing."""
    try:
        dynamic = files.elf(path).dynamic
    except (OSError, ElfError):
        return Wanting(cuda=False, torch=False)
    needed = dynamic.needed if dynamic else ()
    cuda = any(family_of(name) is not None for name in needed)
    return Wanting(cuda=cuda, torch=any(is_torch(name) for name in needed))


def refers_to_torch(files: Files, path: str) -> bool:
    """Whether a library needs PyTorch's libraries, or symbols of theirs without saying from where."""
    if wanting(files, path).torch:
        return True
    try:
        undefined = files.elf(path).undefined
    except (OSError, ElfError):
        return False
    return any(one.name.startswith(_TORCH_SYMBOLS) for one in undefined)


def is_torch(name: str) -> bool:
    """Whether a name is that of one of PyTorch's libraries."""
    return bool(_TORCH.match(name.rpartition("/")[2]))


def lacks_only_others(failure: Failure) -> bool:
    """Whether all that a load lacks is neither CUDA's nor PyTorch's: an optional part for FFmpeg, MPI, a driver."""
    names = [one.name for one in failure.libraries]
    return bool(names) and all(family_of(name) in (None, DRIVER) and not is_torch(name) for name in names)


def lacks_driver_only(failure: Failure) -> bool:
    """Whether all that a load lacks comes with the driver, which a machine that only builds has not."""
    return bool(failure.libraries) and all(family_of(one.name) == DRIVER for one in failure.libraries)


def load_torch(session: Session) -> None:
    """Do what `import torch` does, which everything that needs PyTorch's libraries relies on; raises LoadError."""
    from cvm.consumers import torch

    python = session.world.python
    distribution = python.distribution("torch") if python else None
    if distribution is None:
        raise LoadError("ModuleNotFoundError: No module named 'torch'")
    torch.load(distribution, session)
    session.import_goes_on()
