"""What the initialisers of CUDA's own libraries open while they are loaded.

The model runs no code. Of what these libraries open by themselves only this was ever seen to be found, with a debugger
on all files that six releases of PyTorch, two of TensorFlow and JAX load: cuBLASLt of CUDA 11.8 opens `libnvrtc.so`,
where that of 11.7 and of CUDA 12 has no such name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cvm.elf.files import Files
    from cvm.elf.outcome import Loaded

_OPENS = {"libcublasLt.so.11": "libnvrtc.so"}


def opened_by(loaded: Iterable[Loaded], files: Files) -> Iterator[tuple[Loaded, str]]:
    """Iterate over files with the names that their initialisers open."""
    for one in loaded:
        name = _OPENS.get(one.soname or "")
        if name is not None and name in _names(files, one.path):
            yield one, name


def _names(files: Files, path: str) -> Sequence[str]:
    try:
        return files.elf(path).dlopen_names
    except (OSError, ElfError):
        return ()
