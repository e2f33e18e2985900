"""pkg-config files: relative to themselves, so that a prefix can be moved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.prefix.repairs.edit import make_link, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

_FOLDER = "lib/pkgconfig"
_ROOT = "${pcfiledir}/../.."
_ROOT_LINE = re.compile(r"^(\w*root|prefix)[ \t]*=.*$", re.MULTILINE)
_FOLDER_LINE = re.compile(r"^(libdir|includedir)[ \t]*=.*$", re.MULTILINE)
_VERSIONED = re.compile(r"(.+?)-\d+(?:\.\d+)*\.pc")

_FILE = """\
cudaroot={root}
libdir=${{cudaroot}}/lib
includedir=${{cudaroot}}/include

Name: {name}
Description: {description}
Version: {version}
Libs: -L${{libdir}}{stubs} -l{library}
Cflags: -I${{includedir}}
"""
# Name, library (where it differs), description: the files of NVIDIA's archives that builds ask for.
_MADE = (
    ("cuda", "", "CUDA driver library"),
    ("cudart", "", "CUDA runtime library"),
    ("cublas", "", "CUDA BLAS library"),
    ("cufft", "", "CUDA FFT library"),
    ("cufftw", "", "CUDA FFTW library"),
    ("cufile", "", "GPUDirect Storage library"),
    ("curand", "", "CUDA random number library"),
    ("cusolver", "", "CUDA solver library"),
    ("cusparse", "", "CUDA sparse matrix library"),
    ("nppc", "", "CUDA NPP core library"),
    ("nvidia-ml", "", "NVIDIA management library"),
    ("nvjitlink", "nvJitLink", "CUDA link-time optimiser"),
    ("nvjpeg", "", "CUDA JPEG library"),
    ("nvrtc", "", "CUDA runtime compiler"),
    ("nvToolsExt", "", "NVIDIA tools extension library"),
    ("opencl", "OpenCL", "OpenCL library"),
)


def pc_roots(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """Point the files of the archives at the prefix that they are in."""
    changed = 0
    for path in sorted((prefix / _FOLDER).glob("*.pc")):
        if not path.is_symlink():
            text = path.read_text(encoding="utf-8")
            changed += write_file(prefix, f"{_FOLDER}/{path.name}", relative(text).encode())
    return (f"{changed} files made relative",) if changed else ()


def pc_files(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """Make the files for libraries that come from wheels, which have none."""
    made = []
    for name, other, description in _MADE:
        library = other or name
        found = [f for f in ("lib", "lib/stubs") if (prefix / f / f"lib{library}.so").exists()]
        if found and not list((prefix / _FOLDER).glob(f"{name}-[0-9]*.pc")):
            text = _FILE.format(
                root=_ROOT, name=name, description=description, version=facts.minor, library=library,
                stubs=found[0].removeprefix("lib"),
            )  # fmt: skip
            write_file(prefix, f"{_FOLDER}/{name}-{facts.minor}.pc", text.encode())
            made.append(name)
    return (f"made for {', '.join(made)}",) if made else ()


def pc_unversioned_links(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`cuda.pc -> cuda-12.1.pc`: a build should not have to know the version."""
    made = [
        match[1]
        for path in sorted((prefix / _FOLDER).glob("*.pc"))
        if (match := _VERSIONED.fullmatch(path.name)) and make_link(prefix, f"{_FOLDER}/{match[1]}.pc", path.name)
    ]
    return (f"{len(made)} names, such as {made[0]}.pc",) if made else ()


def relative(text: str) -> str:
    """Make the paths of a file relative to the file."""
    root = next(iter(_ROOT_LINE.findall(text)), "")
    if not root:
        return text
    text = _ROOT_LINE.sub(lambda match: f"{match[1]}={_ROOT}", text)
    folders = {"libdir": "lib", "includedir": "include"}
    return _FOLDER_LINE.sub(lambda match: f"{match[1]}=${{{root}}}/{folders[match[1]]}", text)
