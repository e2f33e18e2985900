"""When a framework refuses the cuDNN that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvm.consumers.consumer import CudnnVersions


def is_older(versions: CudnnVersions | None) -> bool:
    """Whether a framework would refuse it; what can't be told is no reason to.

    From cuDNN 8 on any minor of the same major that isn't older will do (PyTorch's, JAX's and TensorFlow's rule);
    of cuDNN 7 and before only the same minor. The third number never matters.
    """
    if versions is None or versions.compiled is None or versions.runtime is None:
        return False
    compiled, runtime = versions.compiled, versions.runtime
    if compiled[0] != runtime[0]:
        return True
    return runtime[1] != compiled[1] if compiled[0] <= 7 else runtime[1] < compiled[1]
