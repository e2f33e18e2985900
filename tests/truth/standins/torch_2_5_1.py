"""Stands in for `torch/__init__.py` of 2.5.1: opens the same files in the same order, in other words."""
# ruff: noqa: PTH100, PTH110, PTH118, PTH120, PTH207

import ctypes
import glob
import os
import sys

_FALLBACK = {
    "cublas": "libcublas.so.*[0-9]",
    "cudnn": "libcudnn.so.*[0-9]",
    "cuda_nvrtc": "libnvrtc.so.*[0-9]",
    "cuda_runtime": "libcudart.so.*[0-9]",
    "cuda_cupti": "libcupti.so.*[0-9]",
    "cufft": "libcufft.so.*[0-9]",
    "curand": "libcurand.so.*[0-9]",
    "nvjitlink": "libnvJitLink.so.*[0-9]",
    "cusparse": "libcusparse.so.*[0-9]",
    "cusolver": "libcusolver.so.*[0-9]",
    "nccl": "libnccl.so.*[0-9]",
    "nvtx": "libnvToolsExt.so.*[0-9]",
}


def _open_wheel(wheel, pattern):
    found = None
    for folder in sys.path:
        nvidia = os.path.join(folder, "nvidia")
        if not os.path.exists(nvidia):
            continue
        paths = glob.glob(os.path.join(nvidia, wheel, "lib", pattern))
        if paths and not found:
            found = paths[0]
        if found:
            break
    if not found:
        raise ValueError(f"{pattern} not found in the system path {sys.path}")
    ctypes.CDLL(found)


def _open_dependencies():
    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(here, "lib", "libtorch_global_deps.so")
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        if not [name for name in _FALLBACK.values() if name.split(".")[0] in error.args[0]]:
            raise
        for wheel, pattern in _FALLBACK.items():
            _open_wheel(wheel, pattern)
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


_open_dependencies()

from torch._C import *  # noqa: E402, F403
