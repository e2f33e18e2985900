"""The version of a cuDNN library file, read from its own bytes, else from what lies beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.elf.error import ElfError

if TYPE_CHECKING:
    from cvm.elf.elf import Elf
    from cvm.elf.files import Files

Version = tuple[int, int, int]

# Numbers in the files' read-only data: major << 16 | minor << 8 | patch (cuDNN 8.5 to 9.28 have them).
_MARKS = ("cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_adv_infer_version", "cudnn_cnn_infer_version")
# `mov eax, imm32` on x86-64; on aarch64 `movz w0, imm16` or with the upper half `movk w0, imm16, lsl 16` behind it.
_X86 = re.compile(rb"\xb8(....)", re.DOTALL)
_CODE = 1024
_X86_64, _AARCH64 = 62, 183
_NAME = re.compile(r"\.so\.(\d+)\.(\d+)\.(\d+)$")
_HEADER = re.compile(rb"#define\s+CUDNN_(MAJOR|MINOR|PATCHLEVEL)\s+(\d+)")


def file_version(files: Files, path: str) -> Version | None:
    """Return what `cudnnGetVersion` of a file would say, exactly where the file tells, None where nothing does."""
    try:
        elf = files.elf(path)
        found = _marked(elf) or _returned(elf)
    except (OSError, ElfError):
        return None
    return found or _named(files, path) or _beside(files, path)


def split(number: int) -> Version | None:
    """Split the number that `cudnnGetVersion` returns; None for what can be none.

    Up to 8 it was 1000 * major + 100 * minor + patch, since then 10000 * major + 100 * minor + patch.
    """
    if 7000 <= number < 9000:
        return number // 1000, number % 1000 // 100, number % 100
    if 90000 <= number < 200000:
        return number // 10000, number % 10000 // 100, number % 100
    return None


def _marked(elf: Elf) -> Version | None:
    for name in _MARKS:
        address = elf.address(name)
        if address is not None:
            number = int.from_bytes(elf.at(address, 4), "little")
            return number >> 16, number >> 8 & 0xFF, number & 0xFF
    return None


def _returned(elf: Elf) -> Version | None:
    """Look for the number in the code of `cudnnGetVersion`, which returns it and, in cuDNN 8 and 9, logs the call."""
    address = elf.address("cudnnGetVersion")
    if address is None:
        return None
    code = elf.at(address, _CODE)
    if elf.image.machine == _X86_64:
        numbers = [int.from_bytes(match[1], "little") for match in _X86.finditer(code)]
    else:
        numbers = _moved(code) if elf.image.machine == _AARCH64 else []
    return next((version for number in numbers if (version := split(number))), None)


def _moved(code: bytes) -> list[int]:
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code) - 3, 4)]
    numbers: list[int] = []
    for word in words:
        value = word >> 5 & 0xFFFF
        # The same for w0 and x0; the register is in the lowest five bits.
        if word & 0x7FE0001F == 0x52800000:
            numbers.append(value)
        elif word & 0x7FE0001F == 0x72A00000 and numbers:
            numbers[-1] |= value << 16
    return numbers


def _named(files: Files, path: str) -> Version | None:
    found = _NAME.search(files.real(path))
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _beside(files: Files, path: str) -> Version | None:
    folder = files.real(path).rpartition("/")[0]
    for name in ("cudnn_version.h", "cudnn.h"):
        try:
            text = files.content(f"{folder}/../include/{name}")
        except OSError:
            continue
        parts = {key: int(value) for key, value in _HEADER.findall(text)}
        if len(parts) == 3:
            return parts[b"MAJOR"], parts[b"MINOR"], parts[b"PATCHLEVEL"]
    return None
