"""JAX with its plugin for CUDA: libraries by path from NVIDIA's wheels where they are, by name where not.

A failure of the plugin's is swallowed: a person sees a warning at the first use, and the CPU instead of the GPU.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.extensions import open_module
from cvm.consumers.source_text import source_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

DISTRIBUTIONS = ("jax-cuda13-plugin", "jax-cuda12-plugin")

_LOADS = re.compile(r"""_load\(\s*["'](\w+)["'],\s*\[([^\]]*)\]""")
_STRINGS = re.compile(r"""["']([^"']+)["']""")
# In the order in which jaxlib imports them; the rest of the plugin only at its first use.
_MODULES = (
    "_versions",
    "_solver",
    "_hybrid",
    "_sparse",
    "_prng",
    "_linalg",
    "_rnn",
    "_triton",
    "cuda_plugin_extension",
)

# What the plugin asks for by name, in the order of its checks; the others only serve profiles or several GPUs.
_CHECKED = {
    "CUDA": {"12": "libcudart.so.12", "13": "libcudart.so.13"},
    "cuDNN": {"12": "libcudnn.so.9", "13": "libcudnn.so.9"},
    "cuFFT": {"12": "libcufft.so.11", "13": "libcufft.so.12"},
    "cuPTI": {"12": "libcupti.so.12", "13": "libcupti.so.13"},
    "cuBLAS": {"12": "libcublas.so.12", "13": "libcublas.so.13"},
    "cuSPARSE": {"12": "libcusparse.so.12", "13": "libcusparse.so.12"},
}
_LATER = {
    "12": ("libcublasLt.so.12", "libcusolver.so.11", "libnccl.so.2", "libnvshmem_host.so.3"),
    "13": ("libcublasLt.so.13", "libcusolver.so.12", "libnccl.so.2", "libnvshmem_host.so.3"),
}


def load(distribution: Distribution, session: Session) -> None:
    """Do what `import jax` does, and then what its first look for GPUs does; raises LoadError."""
    cuda = distribution.name.removeprefix("jax-cuda").partition("-")[0]
    plugin = f"{distribution.folder}/jax_cuda{cuda}_plugin"
    starter = f"{distribution.folder}/jax_plugins/xla_cuda{cuda}"
    _import(distribution.folder, plugin, cuda, session)
    session.import_ends()
    text = source_text(session.world.files, f"{starter}/__init__.py")
    _preload(text, f"{starter}/__init__.py", session)
    if _passes(f"{plugin}/_versions.so", cuda, session):
        _start(f"{starter}/xla_cuda_plugin.so", f"{starter}/__init__.py", cuda, session)


def _import(folder: str, plugin: str, cuda: str, session: Session) -> None:
    for path in (f"{folder}/jaxlib/_jax.so", f"{folder}/jaxlib/xla_extension.so"):
        if _exists(session, path):
            open_module(path, session, f"{folder}/jaxlib/xla_client.py")
    names = set(session.world.files.names(plugin))
    for name in _MODULES:
        if f"{name}.so" in names:
            source = f"{folder}/jaxlib/plugin_support.py"
            session.open(f"{plugin}/{name}.so", f"import {name}", source, handled=True)
    solver, runtime = f"{plugin}/_solver.so", _CHECKED["CUDA"].get(cuda)
    if runtime and _loaded(session, solver):
        # Its initializer registers GPU code, for which it opens the CUDA runtime.
        session.open(runtime, f'dlopen("{runtime}")', solver, caller=solver, handled=True)


def _preload(text: str, source: str, session: Session) -> None:
    """Open what the plugin looks for in NVIDIA's wheels, by path; older plugins don't."""
    packages = _wheels(session)
    for package, listed in _LOADS.findall(text):
        for name in _STRINGS.findall(listed):
            if package in packages:
                path = f"{packages[package]}/lib/{name}"
                session.open(path, f"ctypes.cdll.LoadLibrary('{path}')", source, handled=True)


def _passes(caller: str, cuda: str, session: Session) -> bool:
    """Ask each library for its version, as `_check_cuda_versions` does, which gives up at the first that is missing."""
    if not _loaded(session, caller):
        return True
    for shown, names in _CHECKED.items():
        name = names.get(cuda)
        if name and not session.open(name, f'dlopen("{name}")', caller, caller=caller, handled=True).ok:
            session.complains(f"RuntimeError: Unable to load {shown}. Is it installed?")
            return False
    return True


def _start(path: str, source: str, cuda: str, session: Session) -> None:
    if not _exists(session, path):
        return
    outcome = session.open(path, f"dlopen({path!r})", source, handled=True)
    if outcome.failure:
        session.complains(outcome.failure.text)
        return
    for name in _named(cuda):
        session.open(name, f'dlopen("{name}")', path, caller=path, handled=True)


def _named(cuda: str) -> Iterator[str]:
    yield from (names[cuda] for names in _CHECKED.values() if cuda in names)
    yield from _LATER.get(cuda, ())


def _wheels(session: Session) -> Mapping[str, str]:
    """Return the folders of the packages below `nvidia`, by name, the first on the path for each."""
    found: dict[str, str] = {}
    for search in session.world.python.search if session.world.python else ():
        for name in session.world.files.names(f"{search.path}/nvidia"):
            found.setdefault(name, f"{search.path}/nvidia/{name}")
    return found


def _exists(session: Session, path: str) -> bool:
    return not isinstance(session.world.files.identity(path), int)


def _loaded(session: Session, path: str) -> bool:
    return session.process.find(path) is not None
