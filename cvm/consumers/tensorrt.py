"""TensorRT's wheels: a package that opens all of its libraries by path, then the extension module that needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module

if TYPE_CHECKING:
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = tuple(
    f"tensorrt{kind}{cuda}-bindings" for kind in ("", "-lean", "-dispatch") for cuda in ("", "-cu11", "-cu12", "-cu13")
)

# The libraries of others that the package opens before its own, where NVIDIA's wheels are beside it.
_BEFORE = ("nvidia/cudnn/lib", "nvidia/cublas/lib", "nvidia/cuda_nvrtc/lib")


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import tensorrt` does; raises LoadError."""
    kind = "_" + distribution.name.split("-")[1] if distribution.name.split("-")[1] in ("lean", "dispatch") else ""
    libraries = f"{distribution.folder}/tensorrt{kind}_libs"
    if session.world.files.names(libraries):
        before = [f"{distribution.folder}/{folder}" for folder in _BEFORE]
        for folder in (*before, libraries):
            _open_all(folder, f"{libraries}/__init__.py", session)
    package = f"{distribution.folder}/tensorrt{kind}_bindings"
    for name in sorted(session.world.files.names(package)):
        if name.startswith("tensorrt") and name.endswith(".so"):
            open_module(f"{package}/{name}", session, f"{package}/__init__.py")


def _open_all(folder: str, source: str, session: Session) -> None:
    for name in sorted(session.world.files.names(folder)):
        if ".so" in name:
            path = f"{folder}/{name}"
            session.open(path, f"ctypes.CDLL('{path}')", source, handled=True)
