"""What a toolkit that somebody else installed is, read from its files; nothing in it is run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from cvm.core.version import Version
from cvm.errors import UsageError
from cvm.prefix.headers import macros, read_header

if TYPE_CHECKING:
    from pathlib import Path

_VERSION_TXT = re.compile(r"CUDA Version (\d+(?:\.\d+)+)")
_DATED = re.compile(r"\d+\.\d+\.\d{8}")
_VERSION_HEADERS = (("cuda.h", "CUDA_VERSION"), ("cuda_runtime_api.h", "CUDART_VERSION"))
_NAMES = "version.json, version.txt, include/cuda.h and include/cuda_runtime_api.h"

_CUDNN = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
_COMPANIONS = (
    ("cudnn", ("cudnn_version.h", "cudnn.h"), _CUDNN),
    ("nccl", ("nccl.h",), ("NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH")),
    ("cutensor", ("cutensor.h",), ("CUTENSOR_MAJOR", "CUTENSOR_MINOR", "CUTENSOR_PATCH")),
    ("cusparselt", ("cusparseLt.h",), ("CUSPARSELT_VER_MAJOR", "CUSPARSELT_VER_MINOR", "CUSPARSELT_VER_PATCH")),
)


def toolkit_version(root: Path) -> Version:
    """Return the version of the toolkit in a folder.

    It has two parts where only the headers tell, for they leave out the patch release.
    Raises UsageError that names what was looked for when the folder holds no toolkit.
    """
    found = _from_json(root) or _from_text(root) or _from_headers(root)
    if found is not None:
        return found
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder", hint="give the folder that has bin, include and lib64")
    raise UsageError(
        f"{root} is not a CUDA toolkit: no version in {_NAMES}",
        hint="give the folder that has bin, include and lib64",
    )


def companion_versions(root: Path) -> tuple[tuple[str, str], ...]:
    """Return the companions that lie in a toolkit, as (product, version)."""
    found = []
    for product, headers, names in _COMPANIONS:
        for header in headers:
            if (numbers := macros(root / "include" / header, names)) is not None:
                found.append((product, ".".join(map(str, numbers))))
                break
    return tuple(found)


def _from_json(root: Path) -> Version | None:
    try:
        document = json.loads(read_header(root / "version.json"))
        text = document["cuda"]["version"]
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(text, str):
        return None
    # From 11.7 to 12 the installer wrote 12.1.20230222, a date in place of the patch release.
    return _version(_two_parts(text) if _DATED.fullmatch(text) else text)


def _from_text(root: Path) -> Version | None:
    match = _VERSION_TXT.search(read_header(root / "version.txt"))
    # CUDA 10.2.89 and before: the third part is a build number.
    return _version(_two_parts(match[1])) if match else None


def _from_headers(root: Path) -> Version | None:
    for header, name in _VERSION_HEADERS:
        if (numbers := macros(root / "include" / header, (name,))) is not None:
            return Version(f"{numbers[0] // 1000}.{numbers[0] % 1000 // 10}")
    return None


def _two_parts(text: str) -> str:
    return ".".join(text.split(".")[:2])


def _version(text: str) -> Version | None:
    return Version(text) if re.fullmatch(r"\d+(\.\d+)*", text) else None
