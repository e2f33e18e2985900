"""What the name of a CUDA library tells: which library it is, of which major, and whose family it belongs to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.consumers.families import DRIVER, family_of

if TYPE_CHECKING:
    from cvm.consumers.consumer import LibraryFile

_NAME = re.compile(r"(?P<stem>lib[^/]+?)(?:[-.][0-9a-f]{8})?\.so(?:\.(?P<version>[0-9.]+))?$")
# Made to work with each other in one build only; each list begins with the library that programs ask for.
FAMILIES = (
    ("libcublas", "libcublasLt"),
    ("libcufft", "libcufftw"),
    ("libcusolver", "libcusolverMg"),
    ("libnvrtc", "libnvrtc-builtins"),
)


def base(path: str | None) -> str:
    """Return the name of a file, nothing for none."""
    return (path or "").rpartition("/")[2]


def stem(name: str) -> str:
    """Return a library's name without version and without the hash that a repaired wheel adds."""
    match = _NAME.match(base(name))
    return match["stem"] if match else base(name)


def number(name: str) -> str | None:
    """Return what stands behind `.so.`; None for a bare name."""
    match = _NAME.match(base(name))
    return match["version"] if match else None


def major(name: str) -> str | None:
    """Return the first number behind `.so.`."""
    whole = number(name)
    return whole.partition(".")[0] if whole else None


def is_cuda(name: str) -> bool:
    """Whether a name is that of a CUDA library."""
    return family_of(name) is not None


def is_driver(name: str) -> bool:
    """Whether a library comes with NVIDIA's driver."""
    return family_of(name) == DRIVER


def is_cudnn(name: str) -> bool:
    """Whether a library is a member of cuDNN."""
    return family_of(name) == "cudnn"


def same(one: LibraryFile | None, other: LibraryFile | None) -> bool:
    """Whether two files of one library are the same as far as anybody can tell: by path, build or version."""
    if one is None or other is None:
        return False
    if one.real == other.real or one.build == other.build:
        return True
    return one.version is not None and one.version == other.version


def agree(one: str, other: str) -> bool:
    """Whether two versions are equal as far as both go: `12.4.5` and `12.4.5.8` are."""
    return all(a == b for a, b in zip(one.split("."), other.split("."), strict=False))
