"""ONNX Runtime: its providers for CUDA and TensorRT are opened by path when a session asks for them.

A provider that can't be loaded is a message on stderr, and the CPU instead of the GPU.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module
from cvm.consumers.source_text import cuda_of, source_text
from cvm.consumers.wanting import lacks_driver_only
from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("onnxruntime-gpu", "onnxruntime-training", "ort-nightly-gpu")

_STATE = "onnxruntime_pybind11_state"
_CUDNN = re.compile(r"libcudnn\.so\.\d+")
# The major of cuFFT lags behind CUDA's.
_CUFFT = {"11": "10", "12": "11", "13": "12"}


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import onnxruntime` does, and what a session for CUDA, then one for TensorRT does; raises LoadError."""
    folder = f"{distribution.folder}/onnxruntime/capi"
    names = sorted(session.world.files.names(folder))
    state = next((f"{folder}/{name}" for name in names if name.startswith(_STATE) and name.endswith(".so")), None)
    if state is None:
        return
    open_module(state, session, f"{folder}/_pybind_state.py")
    _provide(folder, "shared", state, session)
    session.import_ends()
    if "libonnxruntime_providers_cuda.so" in names:
        _cuda(distribution, folder, state, session)
    if "libonnxruntime_providers_tensorrt.so" in names:
        _provide(folder, "tensorrt", state, session)


def _provide(folder: str, kind: str, caller: str, session: Session) -> str | None:
    """Open a provider; return what ONNX Runtime logs when that fails for more than the lack of a driver."""
    path = f"{folder}/libonnxruntime_providers_{kind}.so"
    failure = session.open(path, f"dlopen({path!r})", caller, caller=caller, handled=True).failure
    if failure is None or lacks_driver_only(failure):
        return None
    return f"Failed to load library {path} with error: {failure.text}"


def _cuda(distribution: Distribution, folder: str, state: str, session: Session) -> None:
    session.complains(_provide(folder, "cuda", state, session))
    path = f"{folder}/libonnxruntime_providers_cuda.so"
    if session.process.find(path) is None:
        return
    for name in _later(distribution, path, session):
        failure = session.open(name, f'dlopen("{name}")', path, caller=path, handled=True).failure
        if failure is not None:
            session.complains(f"Failed to load library {name} with error: {failure.text}")


def _later(distribution: Distribution, path: str, session: Session) -> Iterator[str]:
    """Yield what newer providers open by themselves instead of needing it; the names are put together in their code."""
    files = session.world.files
    try:
        dynamic, data = files.elf(path).dynamic, files.elf(path).data
    except (OSError, ElfError):
        return
    needed = " ".join(dynamic.needed) if dynamic else ""
    if "libcudnn.so" not in needed and data.find(b"libcudnn") >= 0:
        named = _CUDNN.search(source_text(files, f"{distribution.folder}/onnxruntime/__init__.py"))
        yield from (named[0],) if named else ()
    cufft = _CUFFT.get((cuda_of(distribution, files) or "").partition(".")[0])
    if cufft and "libcufft.so" not in needed and data.find(b"libcufft") >= 0:
        yield f"libcufft.so.{cufft}"
