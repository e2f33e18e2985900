"""Stands in for `torch/backends/cudnn/__init__.py`: compares as the real one does, and complains in other words."""
# ruff: noqa: PTH100, PTH118, PTH120

import ctypes
import os

_HERE = os.path.dirname(os.path.abspath(__file__))
_CODE = ctypes.CDLL(os.path.join(_HERE, "..", "..", "lib", "libtorch_python.so"))


def _compiled():
    numbers = (ctypes.c_long * 3)()
    _CODE.compiled_cudnn(numbers)
    return numbers[2], numbers[1], numbers[0]


def _runtime():
    number = _CODE.runtime_cudnn()
    thousands = 1000 if number < 90000 else 10000
    return number // thousands, number % thousands // 100, number % 100


def version():
    compile_version, runtime_version = _compiled(), _runtime()
    if runtime_version[0] == compile_version[0] and runtime_version[1] >= compile_version[1]:
        return runtime_version
    base_error_msg = f"made with cuDNN {compile_version}, found {runtime_version}. "
    path = os.environ.get("LD_LIBRARY_PATH")
    if path is not None:
        if "cuda" in path or "cudnn" in path:
            raise RuntimeError(f"{base_error_msg}LD_LIBRARY_PATH has one of its own; install {compile_version}")
        raise RuntimeError(f"{base_error_msg}Is there one in LD_LIBRARY_PATH?")
    raise RuntimeError(base_error_msg)
