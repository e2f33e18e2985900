"""The one error of reading an ELF file."""

from __future__ import annotations

from cvm.errors import CvmError


class ElfError(CvmError):
    """A file is no ELF file, or a damaged one: the message names the file and says what is wrong with it."""

    kind = "elf"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error cross a process border with its fields."""
        return type(self), (self.name, self.reason)
