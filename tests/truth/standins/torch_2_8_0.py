"""Stands in for `torch/__init__.py` of 2.8.0: opens the same files in the same order, in other words."""
# ruff: noqa: PTH100, PTH118, PTH120, PTH123, PTH207

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
    "cusparselt": "libcusparseLt.so.*[0-9]",
    "cusolver": "libcusolver.so.*[0-9]",
    "nccl": "libnccl.so.*[0-9]",
}


def _wheel_paths(folder, wheel, pattern):
    return [
        *glob.glob(os.path.join(folder, "nvidia", wheel, "lib", pattern)),
        *glob.glob(os.path.join(folder, wheel, "lib", pattern)),
    ]


def _open_wheel(wheel, pattern):
    found = None
    for folder in sys.path:
        paths = _wheel_paths(folder, wheel, pattern)
        if paths:
            found = paths[0]
            break
    if not found:
        raise ValueError(f"{pattern} not found in the system path {sys.path}")
    ctypes.CDLL(found)


def _open_dependencies():
    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(here, "lib", "libtorch_global_deps.so")
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        # A wheel's libcusparse takes whichever libnvJitLink is there, so that of the wheels must be first.
        try:
            with open("/proc/self/maps") as maps:
                loaded = maps.read()
            if "nvidia/cuda_runtime/lib/libcudart.so" not in loaded:
                return
            _open_wheel("cuda_nvrtc", "libnvrtc.so.*[0-9]")
            _open_wheel("nvjitlink", "libnvJitLink.so.*[0-9]")
        except Exception:  # noqa: BLE001 - as the real one does
            pass
    except OSError as error:
        from torch.version import cuda

        names = dict(_FALLBACK)
        if cuda is not None and int(cuda.split(".")[0]) >= 12:
            names["cufile"] = "libcufile.so.*[0-9]"
        if not [name for name in names.values() if name.split(".")[0] in error.args[0]]:
            raise
        for wheel, pattern in names.items():
            _open_wheel(wheel, pattern)
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)


_open_dependencies()

from torch._C import *  # noqa: E402, F403
