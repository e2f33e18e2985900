"""The folders of a prefix that an environment names; a linked toolkit may have its libraries not in lib64."""

from __future__ import annotations

from pathlib import Path

from cvm.core.environment import Folders

# Debian's own packages and conda's lay them out like this.
_LIBRARIES = ("lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib")


def folders_of(prefix: str) -> Folders:
    """Look which of the folders a prefix has."""
    root = Path(prefix)
    libraries = next((root / name for name in _LIBRARIES if (root / name).is_dir()), None)
    stubs = libraries / "stubs" if libraries else None
    compiler = root / "bin" / "nvcc"
    return Folders(
        prefix=prefix,
        programs=str(root / "bin"),
        compiler=str(compiler) if compiler.is_file() else None,
        libraries=(str(libraries),) if libraries else (),
        stubs=(str(stubs),) if stubs and stubs.is_dir() else (),
    )
