"""The driver's libraries, to link with where there is no driver."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.prefix.headers import read_header
from cvm.prefix.repairs.edit import write_file
from cvm.prefix.stub import MACHINES, stub_library

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

_DRIVER_HEADERS = ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h")
_DECLARED = re.compile(r"\bCUDAAPI\s+(cu[A-Z]\w*)\s*\(")
_PER_THREAD = re.compile(r"__CUDA_API_PT(DS|SZ)\(\s*(cu[A-Z]\w*)\s*\)")
_RENAMED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+cu[A-Z]\w*[ \t]+(cu[A-Z]\w*)[ \t]*$", re.MULTILINE)
_NVML_DECLARED = re.compile(r"\bDECLDIR\s+(nvml[A-Z]\w*)\s*\(")

# cuda.h: CUDA_ERROR_STUB_LIBRARY, "the CUDA driver that the application has loaded is a stub library"
_STUB_LIBRARY = 34
# In nvml.h this is NVML_ERROR_DRIVER_NOT_LOADED.
_DRIVER_NOT_LOADED = 9


def driver_stub(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """`lib/stubs/libcuda.so`, with the functions that the headers of the driver declare.

    No `libcuda.so.1` beside it, as in NVIDIA's archives: a stub under that name would stand in for the driver
    at run time wherever `stubs` got on to LD_LIBRARY_PATH.
    """
    text = "\n".join(read_header(prefix / "include" / name) for name in _DRIVER_HEADERS)
    return _stub(prefix, facts, "libcuda", driver_functions(text), _STUB_LIBRARY)


def nvml_stub(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """`lib/stubs/libnvidia-ml.so`, from nvml.h."""
    functions = sorted(set(_NVML_DECLARED.findall(read_header(prefix / "include/nvml.h"))))
    return _stub(prefix, facts, "libnvidia-ml", functions, _DRIVER_NOT_LOADED)


def driver_functions(text: str) -> Sequence[str]:
    """List the functions of the driver that its headers name, with the variants that macros make of them."""
    found = {*_DECLARED.findall(text), *_RENAMED.findall(text)}
    for kind, name in _PER_THREAD.findall(text):
        found |= {name, f"{name}_pt{kind.lower()}"}
    return sorted(found)


def _stub(prefix: Path, facts: PrefixFacts, name: str, functions: Sequence[str], value: int) -> tuple[str, ...]:
    path = f"lib/stubs/{name}.so"
    machine = MACHINES.get(facts.platform)
    if not functions or machine is None or (prefix / path).exists():
        return ()
    write_file(prefix, path, stub_library(f"{name}.so.1", functions, machine, value))
    return (f"{path} with {len(functions)} functions, made from the headers",)
