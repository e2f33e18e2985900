"""The cuDNN that a PyTorch was compiled with, and compares: the one that its package requires can be newer.

PyTorch 2.8.0 requires cuDNN 9.10.2, and was compiled with 9.8.0.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution
    from cvm.elf.elf import Elf

_LIBRARY = "libtorch_python.so"
_X86_64 = 62
# `getCompileVersion`, as compilers have made it from 1.13 to 2.8: a C++ tuple of three numbers, the last first. Two
# are loaded from read-only data, or each is stored by itself; behind the return follows the jump to cudnnGetVersion.
_LOADED = re.compile(
    rb"\x66\x0f\x6f\x05(....)"  # movdqa xmm0, [rip+data]
    rb"\x48\xc7\x47\x10([\x05-\x20])\0\0\0"  # mov qword [rdi+16], major
    rb"\x48\x89\xf8\x0f\x11\x07\xc3"  # mov rax, rdi; movups [rdi], xmm0; ret
    rb"[\x00-\xff]{0,24}?\xe9",
    re.DOTALL,
)
_STORED = re.compile(
    rb"\x48\xc7\x07(.)\0\0\0(?:\x48\x89\xf8)?\x48\xc7\x47\x08(.)\0\0\0\x48\xc7\x47\x10([\x05-\x20])\0\0\0", re.DOTALL
)


def torch_folder(distribution: Distribution, session: Session) -> str:
    """Return the folder of the package that was imported: that of a development install lies elsewhere."""
    found = session.process.find(_LIBRARY)
    return posixpath.dirname(posixpath.dirname(found.path)) if found else f"{distribution.folder}/torch"


def compiled_cudnn(distribution: Distribution, session: Session) -> tuple[int, int, int] | None:
    """Read the version from the code of PyTorch's own library; None where the code is of another kind."""
    try:
        elf = session.world.files.elf(f"{torch_folder(distribution, session)}/lib/{_LIBRARY}")
        return _read(elf) if elf.image.machine == _X86_64 else None
    except (OSError, ElfError):
        return None


def _read(elf: Elf) -> tuple[int, int, int] | None:
    for load in elf.image.loads:
        if load.flags & 1:
            end = load.offset + load.file_size
            for match in _LOADED.finditer(elf.data, load.offset, end):
                address = (
                    load.address + match.start() - load.offset + 8 + int.from_bytes(match[1], "little", signed=True)
                )
                numbers = elf.at(address, 16)
                patch, minor = int.from_bytes(numbers[:8], "little"), int.from_bytes(numbers[8:], "little")
                if max(patch, minor) < 100:
                    return match[2][0], minor, patch
            stored = _STORED.search(elf.data, load.offset, end)
            if stored:
                return stored[3][0], stored[2][0], stored[1][0]
    return None
