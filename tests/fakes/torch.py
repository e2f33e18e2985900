"""A virtual environment with a tiny torch: one extension module, and a wheel of the CUDA library that it needs.

The wheel's `libcudart.so.99` has a function that no toolkit of these tests has: with theirs in front, torch can't load.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cvm.prefix.stub import X86_64, stub_library

RUNTIME = "libcudart.so.99"
WHEEL = f"nvidia/cuda_runtime/lib/{RUNTIME}"
SYMBOL = "cudaNewerThanTheToolkit"


def make_torch(venv: Path) -> Path:
    """Make the environment, and return its interpreter, which is a real one."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    site = venv / f"lib/python{version}/site-packages"
    _environment(venv, version)
    _package(site, "torch", "2.99.0", {"__init__.py": "import ctypes\nfrom torch._C import *\n"})
    _package(site, "nvidia-cuda-runtime-cu99", "99.9.9", {})
    wheel = site / WHEEL
    (site / "nvidia_cuda_runtime_cu99-99.9.9.dist-info/RECORD").write_text(f"{WHEEL},,\n")
    wheel.parent.mkdir(parents=True)
    _compile(wheel, f"void {SYMBOL}(void) {{}}", f"-Wl,-soname,{RUNTIME}")
    calling = f"extern void {SYMBOL}(void); void *PyInit__C(void) {{ {SYMBOL}(); return 0; }}"
    runpath = "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../nvidia/cuda_runtime/lib"
    _compile(site / "torch/_C.so", calling, runpath, str(wheel))
    return venv / "bin/python3"


def old_runtime(prefix: Path) -> None:
    """Put a library that torch can't do with into a toolchain."""
    path = prefix / "lib" / RUNTIME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(stub_library(RUNTIME, ("cudaRuntimeGetVersion",), X86_64, 0))


def _environment(venv: Path, version: str) -> None:
    real = Path(sys.executable).resolve()
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python3").symlink_to(real)
    (venv / "pyvenv.cfg").write_text(f"home = {real.parent}\nversion = {version}.0\n")


def _package(site: Path, name: str, version: str, files: dict[str, str]) -> None:
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\n")
    for path, text in files.items():
        (site / name).mkdir(exist_ok=True)
        (site / name / path).write_text(text)


def _compile(target: Path, code: str, *options: str) -> None:
    gcc = ["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-x", "none", "-o", str(target), *options]
    subprocess.run(gcc, input=code, text=True, check=True)
