"""What a prefix lacks, and no repair can make."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

# (what shows that the component is there, what it should then have, what a person misses)
_GAPS = (
    ("bin/ptxas", "bin/nvcc", "no nvcc: the wheels of CUDA before 13 hold none"),
    ("include/cuda_runtime_api.h", "lib/libcudart_static.a", "no static runtime: link with -cudart shared"),
    ("include/cuda_runtime_api.h", "lib/libcudadevrt.a", "no libcudadevrt.a: no device code that launches kernels"),
    ("include/cublas_v2.h", "lib/libcublas_static.a", "no static libraries of cuBLAS and the others"),
    ("include/crt/host_config.h", "include/nvfunctional", "no header nvfunctional"),
    (
        "compute-sanitizer/compute-sanitizer",
        "compute-sanitizer/TreeLauncherSubreaper",
        "no helper programs of compute-sanitizer: it may not start every program",
    ),
)


def missing_parts(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """Name what programs may look for in vain; nothing is put in its place."""
    return tuple(text for sign, part, text in _GAPS if (prefix / sign).exists() and not (prefix / part).exists())
