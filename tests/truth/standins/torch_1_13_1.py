"""Stands in for `torch/__init__.py` of 1.13.1: opens the same files in the same order, in other words."""
# ruff: noqa: PTH100, PTH110, PTH118, PTH120

import ctypes
import os
import sys


def _open_wheels():
    for folder in sys.path:
        nvidia = os.path.join(folder, "nvidia")
        if not os.path.exists(nvidia):
            continue
        cublas = os.path.join(nvidia, "cublas", "lib", "libcublas.so.11")
        cudnn = os.path.join(nvidia, "cudnn", "lib", "libcudnn.so.8")
        if not os.path.exists(cublas) or not os.path.exists(cudnn):
            continue
        break
    ctypes.CDLL(cublas)
    ctypes.CDLL(cudnn)


def _open_dependencies():
    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(here, "lib", "libtorch_global_deps.so")
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        if "libcublas.so.11" not in error.args[0]:
            raise
        _open_wheels()
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


_open_dependencies()

from torch._C import *  # noqa: E402, F403
