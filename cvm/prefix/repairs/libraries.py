"""Names of libraries that wheels leave out, for they hold no symbolic links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.prefix.headers import macros
from cvm.prefix.repairs.edit import make_link

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

_VERSIONED = re.compile(r"(lib.+?\.so)((?:\.\d+)+)")


def development_links(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`libcublas.so -> libcublas.so.12`: what `-lcublas` asks for."""
    made = []
    for name, versions in sorted(_versioned(prefix / "lib").items()):
        soname = _soname(versions)
        if soname.count(".") >= 2:
            # Only the full version is there: no archive and no wheel does that, a copy that lost its links does.
            full, soname = soname, soname.split(".")[0]
            make_link(prefix, f"lib/{name}.{soname}", f"{name}.{full}")
            made.append(f"{name}.{soname}")
        if make_link(prefix, f"lib/{name}", f"{name}.{soname}"):
            made.append(name)
    return (f"{len(made)} names, such as lib/{made[0]}",) if made else ()


def cudnn_exact_links(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`libcudnn_ops.so.9.13.1`: cuDNN 9 tries this name, in /usr/lib as well, before its own `.so.9`."""
    version = _cudnn_version(prefix)
    if version is None or version[0] < 9:
        return ()
    exact = ".".join(map(str, version))
    made = [
        name
        for name in sorted(_versioned(prefix / "lib"))
        if name.startswith("libcudnn")
        and (prefix / "lib" / f"{name}.{version[0]}").exists()
        and make_link(prefix, f"lib/{name}.{exact}", f"{name}.{version[0]}")
    ]
    return (f"{len(made)} names, such as lib/{made[0]}.{exact}",) if made else ()


def nvvm_links(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`nvvm/lib64` and `nvvm/include`: `nvcc -dlto` and numba load libnvvm from there."""
    made: list[str] = []
    in_lib = _versioned(prefix / "lib").get("libnvvm.so", [])
    own = prefix / "nvvm/lib64/libnvvm.so"
    if in_lib and not own.exists():
        soname = f"libnvvm.so.{_soname(in_lib)}"
        _add(made, prefix, f"nvvm/lib64/{soname}", f"../../lib/{soname}")
        _add(made, prefix, "nvvm/lib64/libnvvm.so", soname)
    elif own.exists() and not _versioned(own.parent):
        # Its soname is libnvvm.so.4 in every wheel of CUDA 11 and 12.
        _add(made, prefix, "nvvm/lib64/libnvvm.so.4", "libnvvm.so")
    if (prefix / "include/nvvm.h").is_file():
        _add(made, prefix, "nvvm/include/nvvm.h", "../../include/nvvm.h")
    return tuple(made)


def _add(made: list[str], prefix: Path, path: str, target: str) -> None:
    if make_link(prefix, path, target):
        made.append(f"{path} -> {target}")


def _versioned(folder: Path) -> dict[str, list[str]]:
    """Map `libX.so` to the versions that follow that name in a folder."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if match := _VERSIONED.fullmatch(path.name):
            found.setdefault(match[1], []).append(match[2][1:])
    return found


def _soname(versions: Sequence[str]) -> str:
    """Choose the version of the soname: the fewest parts, then the newest. It need not begin the full version."""
    return min(versions, key=lambda version: (version.count("."), *(-int(part) for part in version.split("."))))


def _cudnn_version(prefix: Path) -> tuple[int, int, int] | None:
    found = macros(prefix / "include/cudnn_version.h", ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"))
    return None if found is None else (found[0], found[1], found[2])
