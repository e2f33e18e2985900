"""What PyTorch says about a cuDNN that it doesn't take, word for word."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cvm.consumers.consumer import CudnnVersions
from cvm.consumers.torch_built import compiled_cudnn
from cvm.consumers.torch_cudnn import torch_complaint

# The shape of PyTorch's own file, in other words.
SOURCE = """
import os

def check(runtime_version, compile_version):
    if runtime_version[:2] < compile_version[:2]:
        if os.environ.get("PYTORCH_SKIP_CUDNN_COMPATIBILITY_CHECK", "0") == "1":
            return
        base_error_msg = (
            f"compiled with {compile_version} "
            f"but found {runtime_version}. "
        )
        if "LD_LIBRARY_PATH" in os.environ:
            path = os.environ.get("LD_LIBRARY_PATH", "")
            if any(part in path for part in ["cuda", "cudnn"]):
                raise RuntimeError(f"{base_error_msg}" f"take it out, or install {compile_version}")
            else:
                raise RuntimeError(f"{base_error_msg}maybe a conflict")
        else:
            raise RuntimeError(base_error_msg)
"""
COMPILED, RUNTIME = (9, 10, 2), (9, 1, 0)


@pytest.mark.parametrize("path", [None, "", "/opt/other/lib", "/usr/local/cuda/lib64", "/opt/cudnn"])
@pytest.mark.parametrize("skip", ["0", "1"])
def test_the_text_is_what_the_file_raises(site, path, skip):
    site.write("torch/backends/cudnn/__init__.py", SOURCE)
    environment = {"PYTORCH_SKIP_CUDNN_COMPATIBILITY_CHECK": skip}
    if path is not None:
        environment["LD_LIBRARY_PATH"] = path
    call = f"\ncheck({RUNTIME}, {COMPILED})"
    real = subprocess.run(
        [sys.executable, "-c", SOURCE + call], env=environment, capture_output=True, text=True, check=False
    )
    lines = real.stderr.splitlines()
    site.environment = environment
    complaint = torch_complaint(site.distribution("torch"), CudnnVersions(COMPILED, "", RUNTIME, ""), site.session())
    assert complaint == (lines[-1] if lines else None)


@pytest.mark.parametrize(
    ("compiled", "runtime", "complains"),
    [
        ((9, 1, 0), (9, 1, 0), False),
        ((9, 1, 0), (9, 28, 0), False),
        ((9, 8, 2), (9, 8, 0), False),
        ((9, 8, 0), (9, 1, 0), True),
        ((8, 9, 2), (9, 1, 0), True),
        (None, (9, 1, 0), False),
        ((9, 1, 0), None, False),
    ],
)
def test_a_later_minor_is_taken_and_another_major_is_not(site, compiled, runtime, complains):
    found = torch_complaint(site.distribution("torch"), CudnnVersions(compiled, "", runtime, ""), site.session())
    assert (found is not None) is complains


def test_a_file_of_another_shape_gives_the_short_text(site):
    site.write("torch/backends/cudnn/__init__.py", "this is no Python")
    found = torch_complaint(site.distribution("torch"), CudnnVersions(COMPILED, "", RUNTIME, ""), site.session())
    assert "(9, 10, 2) but found runtime version (9, 1, 0)" in found


CODE = """
__asm__(".text\\ngetCompileVersion:\\n"
  ".byte 0x66,0x0f,0x6f,0x05\\n.long numbers-.-4\\n"
  ".byte 0x48,0xc7,0x47,0x10,9,0,0,0\\n.byte 0x48,0x89,0xf8,0x0f,0x11,0x07,0xc3\\n"
  ".p2align 4\\n.byte 0xe9,0,0,0,0\\n"
  ".section .rodata\\n.p2align 4\\nnumbers: .quad 2, 8\\n.text");
"""
STORED = """
__asm__(".text\\n.byte 0x48,0xc7,0x07,2,0,0,0\\n.byte 0x48,0x89,0xf8\\n"
  ".byte 0x48,0xc7,0x47,0x08,8,0,0,0\\n.byte 0x48,0xc7,0x47,0x10,9,0,0,0\\n.byte 0xc3");
"""


@pytest.mark.parametrize("code", [CODE, STORED])
def test_the_version_that_counts_is_in_the_code(site, code):
    site.lib("torch/lib/libtorch_python.so", code)
    assert compiled_cudnn(site.distribution("torch"), site.session()) == (9, 8, 2)


def test_code_of_another_kind_tells_nothing(site):
    site.lib("torch/lib/libtorch_python.so", "int x;")
    assert compiled_cudnn(site.distribution("torch"), site.session()) is None
    assert compiled_cudnn(site.distribution("torch")._replace(folder="/nowhere"), site.session()) is None
