"""The programs: the wrappers and the profile that an installer puts into `bin`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.prefix.repairs.edit import EXECUTABLE, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

_WRAPPED = {
    "compute-sanitizer": "compute-sanitizer/compute-sanitizer",
    "ncu": "nsight-compute/*/ncu",
    "ncu-ui": "nsight-compute/*/ncu-ui",
    "nsys": "nsight-systems/*/bin/nsys",
    "nsys-ui": "nsight-systems/*/bin/nsys-ui",
}
_WRAPPER = """#!/bin/sh
here="$(dirname -- "$(readlink -f -- "$0")")"
exec "$here"/../{program} "$@"
"""
_TEMPLATE = b"#VERSION_RSPLIT#"
_TREE = re.compile(rb"nsight-(systems|compute)-#VERSION_RSPLIT#")

# Where nvcc finds the other tools, headers and libraries: every line is in the profiles that NVIDIA ships.
_PROFILE = """\
TOP              = $(_HERE_)/..
CICC_PATH        = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib:
PATH            += $(CICC_PATH):$(_HERE_):
INCLUDES        +=  "-I$(TOP)/include" $(_SPACE_)
{system}LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/lib/stubs" "-L$(TOP)/lib"
"""
_PROFILE_SYSTEM = 'SYSTEM_INCLUDES +=  "-isystem" "$(TOP)/include/cccl" $(_SPACE_)\n'


def tool_wrappers(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`bin/ncu` and others: short scripts that run a tool from its own tree, where an archive brings none."""
    made = []
    for name, pattern in _WRAPPED.items():
        found = sorted(prefix.glob(pattern))
        if found and not (prefix / "bin" / name).exists():
            script = _WRAPPER.format(program=found[-1].relative_to(prefix))
            write_file(prefix, f"bin/{name}", script.encode(), EXECUTABLE)
            made.append(f"bin/{name}")
    return tuple(made)


def nsight_templates(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """`bin/nsys` of the archives holds placeholders for the version that an installer fills in."""
    filled = []
    for path in sorted((prefix / "bin").glob("ns*")) + sorted((prefix / "bin").glob("ncu*")):
        text = path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 16 else b""
        if _TEMPLATE in text and (new := _filled(prefix, facts, text)) != text:
            write_file(prefix, f"bin/{path.name}", new, EXECUTABLE)
            filled.append(f"bin/{path.name}")
    return tuple(filled)


def nvcc_profile(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`bin/nvcc.profile`, where there is an nvcc without one."""
    if not (prefix / "bin/nvcc").exists() or (prefix / "bin/nvcc.profile").exists():
        return ()
    system = _PROFILE_SYSTEM if (prefix / "include/cccl").is_dir() else ""
    write_file(prefix, "bin/nvcc.profile", _PROFILE.format(system=system).encode())
    return ("bin/nvcc.profile",)


def _filled(prefix: Path, facts: PrefixFacts, text: bytes) -> bytes:
    """Fill in the placeholders from the trees that are there."""

    def tree(match: re.Match[bytes]) -> bytes:
        name = f"nsight-{match[1].decode()}"
        return f"{name}/{_newest(prefix / name)}".encode() if _newest(prefix / name) else match[0]

    text = _TREE.sub(tree, text)
    version = _newest(prefix / "nsight-systems") or _newest(prefix / "nsight-compute")
    text = text.replace(_TEMPLATE, version.encode()) if version else text
    major, minor = facts.minor.split(".")
    return text.replace(b"#CUDA_MAJOR#", major.encode()).replace(b"#CUDA_MINOR#", minor.encode())


def _newest(tree: Path) -> str:
    """Name the version folder of a tree: `nsight-systems/2023.1.2`."""
    found = sorted(path.name for path in tree.glob("[0-9]*") if path.is_dir())
    return found[-1] if found else ""
