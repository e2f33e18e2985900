"""The loader that a program names, with the processor that it would run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.elf.files import Disk
from cvm.elf.layout import X86_64
from cvm.elf.runtime import Processor, read_runtime
from cvm.errors import IncompatibleError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.elf.elf import Elf
    from cvm.elf.files import Files
    from cvm.elf.runtime import Runtime

_CPUINFO = "/proc/cpuinfo"

# What each level adds, in the kernel's names: https://gitlab.com/x86-psABIs/x86-64-ABI
_LEVELS = (
    frozenset({"sse4_2", "ssse3", "popcnt", "cx16", "lahf_lm"}),
    frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}),
    frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
)


def read_runtime_of(program: str, files: Files, processor: Processor | None = None) -> Runtime:
    """Learn from the loader that a program names; the processor is this machine's by default, for an image as well.

    Raises OSError and ElfError where the program can't be read, IncompatibleError where glibc's loader doesn't load it.
    """
    elf = files.elf(program)
    interpreter = _interpreter(program, elf)
    if isinstance(files.identity(interpreter), int):
        raise IncompatibleError(f"`{program}` wants the loader `{interpreter}`, which isn't there")
    if processor is None:
        processor = read_processor() if elf.image.machine == X86_64 else Processor()
    return read_runtime(files, interpreter, processor)


def _interpreter(program: str, elf: Elf) -> str:
    if elf.musl:
        raise IncompatibleError(
            f"`{program}` is made for musl's loader (Alpine), which NVIDIA's libraries do not support",
            hint="use a Python of a distribution with glibc, such as Debian",
        )
    if elf.interpreter is None:
        raise IncompatibleError(f"`{program}` names no loader: it is linked statically, and can't load libraries")
    return elf.interpreter


def read_processor(files: Files | None = None) -> Processor:
    """Return this machine's processor as glibc sees it, of which only x86-64 has levels."""
    try:
        fields = _fields((files or Disk()).content(_CPUINFO).decode(errors="replace"))
    except OSError:
        return Processor()
    level = _level(frozenset(fields.get("flags", "").split()))
    if fields.get("vendor_id", "GenuineIntel") == "GenuineIntel":
        return Processor(level)
    # glibc knows platforms and old folders for Intel's processors only (sysdeps/x86/cpu-features.c).
    return Processor(level, "x86_64", ("tls", "x86_64"))


def _fields(text: str) -> Mapping[str, str]:
    """Return the fields of the first processor."""
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def _level(flags: frozenset[str]) -> int:
    level = 1
    for number, added in enumerate(_LEVELS, 2):
        if not added <= flags:
            break
        level = number
    return level
