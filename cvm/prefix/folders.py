"""The folders of a prefix that an environment names; a linked toolkit may have its libraries not in lib64."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.core.environment import Folders

if TYPE_CHECKING:
    from pathlib import Path

# Debian's own packages and conda's lay them out like this.
_LIBRARIES = ("lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib")


def folders_of(prefix: Path) -> Folders:
    """Look which of the folders a prefix has."""
    libraries = next((prefix / name for name in _LIBRARIES if (prefix / name).is_dir()), None)
    stubs = libraries / "stubs" if libraries else None
    compiler = prefix / "bin" / "nvcc"
    return Folders(
        prefix=str(prefix),
        programs=str(prefix / "bin"),
        compiler=str(compiler) if compiler.is_file() else None,
        libraries=(str(libraries),) if libraries else (),
        stubs=(str(stubs),) if stubs and stubs.is_dir() else (),
    )
