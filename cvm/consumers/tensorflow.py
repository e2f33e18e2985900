"""TensorFlow: CUDA libraries are opened by name when it first looks for GPUs; if one is missing it takes the CPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module
from cvm.consumers.source_text import cuda_of, source_text
from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("tensorflow", "tensorflow-gpu", "tf-nightly")

_CUDNN = re.compile(r"""["']cudnn_version["']\s*[:,]\s*["'](\d+)""")
_MODULE = "_pywrap_tensorflow_internal.so"
# The file that opens them has this text; the small one of the two is asked first.
_OPENERS = ("libtensorflow_framework.so", "libtensorflow_cc.so", _MODULE)
_MARK = b"Could not load dynamic library '"

# The names that each CUDA major's build asks for; the number of cuDNN stands in `build_info.py`.
_NAMES = {
    "11": ("cudart.so.11.0", "cublas.so.11", "cublasLt.so.11", "cufft.so.10", "cusolver.so.11", "cusparse.so.11"),
    "12": ("cudart.so.12", "cublas.so.12", "cublasLt.so.12", "cufft.so.11", "cusolver.so.11", "cusparse.so.12"),
    "13": ("cudart.so.13", "cublas.so.13", "cublasLt.so.13", "cufft.so.12", "cusolver.so.12", "cusparse.so.12"),
}
_COMPLAINT = (
    "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly "
    "if you would like to use GPU."
)


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import tensorflow` does, and then what its first look for GPUs does; raises LoadError."""
    package = f"{distribution.folder}/tensorflow/python"
    if isinstance(session.world.files.identity(f"{package}/{_MODULE}"), int):
        session.cannot_tell(f"{distribution} has no {_MODULE} in {package}")
        return
    open_module(f"{package}/{_MODULE}", session, f"{package}/pywrap_tensorflow.py")
    opener = _opener(session)
    if opener is None:
        session.cannot_tell(f"which file of {distribution} opens the CUDA libraries")
        return
    for name in _names(distribution, session):
        # The runtime is opened by initialisers, which register kernels; all else when GPUs are looked for.
        if "cudart" not in name:
            session.import_ends()
        if not session.open(name, f'dlopen("{name}")', opener, caller=opener, handled=True).ok:
            session.complains(_COMPLAINT)


def _names(distribution: Distribution, session: Session) -> Iterator[str]:
    files = session.world.files
    cuda = cuda_of(distribution, files) or ""
    # Only CUDA 11.0 still had the cuSOLVER of CUDA 10.
    old = {"cusolver.so.11": "cusolver.so.10"} if cuda == "11.0" else {}
    yield from (f"lib{old.get(name, name)}" for name in _NAMES.get(cuda.partition(".")[0], ()))
    info = source_text(files, f"{distribution.folder}/tensorflow/python/platform/build_info.py")
    cudnn = _CUDNN.search(info)
    if cudnn and cuda:
        yield f"libcudnn.so.{cudnn[1]}"


def _opener(session: Session) -> str | None:
    loaded = session.process.loaded
    for stem in _OPENERS:
        for one in loaded:
            if one.path.rpartition("/")[2].startswith(stem) and _has_mark(session, one.path):
                return one.path
    return None


def _has_mark(session: Session, path: str) -> bool:
    try:
        return session.world.files.elf(path).data.find(_MARK) >= 0
    except (OSError, ElfError):
        return False
