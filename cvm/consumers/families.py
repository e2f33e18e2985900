"""Which family of CUDA libraries a file name belongs to."""

from __future__ import annotations

import re

# What auditwheel puts in front of `.so` is no part of the name: `libcudart-e8e8b82a.so.12`, `libcudart.e8e8b82a.so.12`.
_NAME = re.compile(r"lib([A-Za-z0-9_.-]+?)(?:[-.][0-9a-f]{8})?(?:\.alt)?(?:_static)?\.so(?:\.[0-9.]+)?$")

_FAMILIES = (
    ("cudart", r"cudart"),
    ("cublas", r"cublas(Lt)?|nvblas"),
    ("cudnn", r"cudnn(_\w+)?"),
    ("cufft", r"cufftw?"),
    ("curand", r"curand"),
    ("cusparse", r"cusparse"),
    ("cusparselt", r"cusparseLt"),
    ("cusolver", r"cusolver(Mg)?"),
    ("nvjitlink", r"nvJitLink"),
    ("nvrtc", r"nvrtc(-builtins)?"),
    ("nccl", r"nccl"),
    ("cupti", r"cupti|nvperf_host|nvperf_target|pcsamplingutil"),
    ("nvtx", r"nvToolsExt|nvtx3interop"),
    ("cufile", r"cufile(_rdma)?"),
    ("nvshmem", r"nvshmem(_\w+)?"),
    ("npp", r"npp[a-z]+"),
    ("nvjpeg", r"nvjpeg"),
    ("nvvm", r"nvvm"),
    ("cutensor", r"cutensor(Mg)?"),
    ("cudss", r"cudss\w*"),
    ("tensorrt", r"nvinfer\w*|nvonnxparser"),
    ("driver", r"cuda|nvidia-ml|nvcuvid|nvidia-encode|nvidia-ptxjitcompiler"),
)
_ALL = re.compile("|".join(f"(?P<{family}>{pattern})" for family, pattern in _FAMILIES))

DRIVER = "driver"


def family_of(name: str) -> str | None:
    """Return the family of a library by its file name, None for what is no CUDA library."""
    found = _NAME.match(name.rpartition("/")[2])
    family = _ALL.fullmatch(found[1]) if found else None
    return _group(family) if family else None


def stem(name: str) -> str:
    """Return the part of a library's name that is the same for every version: `libcublas.so`."""
    base = name.rpartition("/")[2]
    return base.partition(".so")[0] + ".so"


def _group(match: re.Match[str]) -> str:
    return next(family for family, _ in _FAMILIES if match[family] is not None)
