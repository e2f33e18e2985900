from __future__ import annotations

import pytest

from cvm.core.modes import executable

ELF = b"\x7fELF"


@pytest.mark.parametrize(
    ("path", "mode", "head", "expected"),
    [
        ("nvidia/cuda_nvcc/bin/ptxas", 0o644, ELF, True),
        ("nvidia/cu13/bin/nvcc", 0o744, ELF, True),
        ("nvidia/cuda_nvcc/nvvm/bin/cicc", 0, ELF, True),
        ("bin/cuda-gdb", 0, b"#!/b", True),
        ("nvidia/cuda_sanitizer_api/compute-sanitizer/compute-sanitizer", 0o644, ELF, True),
        ("compute-sanitizer/libsanitizer-public.so", 0o644, ELF, False),
        ("bin/nvcc.profile", 0o644, b"\nTOP", False),
        ("bin/crt/link.stub", 0o644, b"/*", False),
        ("bin/crt/link.stub", 0o755, b"/*", True),
        ("lib/libcublas.so.12", 0o644, ELF, False),
        ("lib/libcublas.so.12", 0o755, ELF, True),
        ("bin", 0o644, ELF, False),
        ("share/robin/tool", 0o644, ELF, False),
        ("bin/empty", 0, b"", False),
    ],
)
def test_executable(path, mode, head, expected):
    assert executable(path, mode, head) is expected
