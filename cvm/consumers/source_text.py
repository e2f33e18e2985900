"""What packages say in their Python files, read as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cvm.core.packages import Distribution
    from cvm.elf.files import Files

_CUDA = re.compile(
    r"""^\s*["']?(?:cuda|cuda_version)["']?\s*(?::[^=\n]*)?[=:]\s*(?:u?["']([\d.]+)["']|(None))""", re.MULTILINE
)
# As a dictionary's item, or as a pair of what an ordered one is made of.
_IN_DICTIONARY = re.compile(r"""["']cuda_version["']\s*[:,]\s*["']([\d.]+)["']""")
_WITHOUT = re.compile(r"""["']is_cuda_build["']\s*[:,]\s*False""")
# `0.23.0+cu128` in `version.py`, where releases tell it no other way.
_LOCAL = re.compile(r"""^__version__[^=\n]*=\s*["'][^"'+]*\+(?:cu(\d+)(\d)|(cpu))["']""", re.MULTILINE)
_IN_NAME = re.compile(r"cuda(\d+)x?(?:-|$)|-cu(\d+)(?:-|$)")

# Where packages tell which CUDA they were built for.
_FILES = {
    "torchvision": "torchvision/version.py",
    "torchaudio": "torchaudio/version.py",
    "tensorflow": "tensorflow/python/platform/build_info.py",
    "tensorflow-gpu": "tensorflow/python/platform/build_info.py",
    "onnxruntime-gpu": "onnxruntime/capi/build_and_package_info.py",
    "onnxruntime-training": "onnxruntime/capi/build_and_package_info.py",
}


def source_text(files: Files, path: str) -> str:
    """Return the text of a Python file, empty where there is none."""
    try:
        return files.content(path).decode("utf-8", "replace")
    except OSError:
        return ""


def cuda_of(distribution: Distribution, files: Files) -> str | None:
    """Return the CUDA version that a package was built for, None for a build for the CPU, "" where nothing tells."""
    known = _FILES.get(distribution.name)
    text = source_text(files, f"{distribution.folder}/{known}") if known else ""
    found = _IN_DICTIONARY.search(text) or _CUDA.search(text)
    if found:
        return found[1]
    if _WITHOUT.search(text):
        return None
    local = _LOCAL.search(text)
    if local:
        return None if local[3] else f"{local[1]}.{local[2]}"
    named = _IN_NAME.search(distribution.name)
    return (named[1] or named[2]) if named else ""
