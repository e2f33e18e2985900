"""All recipes: how each known package loads CUDA, and which packages of an environment are consumers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cvm.consumers import (
    bitsandbytes,
    ctranslate2,
    cupy,
    extensions,
    jax,
    onnxruntime,
    tensorflow,
    tensorrt,
    torch,
    torch_companions,
    triton,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.elf.files import Files

    Loader = Callable[[Distribution, Session], None]


class Recipe(NamedTuple):
    """How a package loads: `load` drives a session, and raises LoadError where the import dies."""

    load: Loader
    is_known: bool = True


# PyTorch first, for others load into its process.
_MODULES = (
    torch,
    torch_companions,
    tensorflow,
    jax,
    onnxruntime,
    cupy,
    bitsandbytes,
    ctranslate2,
    tensorrt,
    triton,
)
_KNOWN: dict[str, Loader] = {name: module.load for module in _MODULES for name in module.DISTRIBUTIONS}


def recipe_of(distribution: Distribution) -> Recipe | None:
    """Return the recipe that was written for a package, None for any other package."""
    load = _KNOWN.get(distribution.name)
    return None if load is None else Recipe(load)


def consumers_in(python: PythonEnvironment, files: Files) -> tuple[tuple[Distribution, Recipe], ...]:
    """Return the consumers of an environment, each as an import would find it: PyTorch, its companions, the others."""
    known = [one for name in _KNOWN if (one := python.distribution(name))]
    others = extensions.find(python, files, _KNOWN)
    return (
        *((one, Recipe(_KNOWN[one.name])) for one in known),
        *((one, Recipe(extensions.load, is_known=False)) for one in others),
    )
