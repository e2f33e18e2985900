"""The selection: the request that is in force, and who set it."""

from __future__ import annotations

from typing import NamedTuple

from cvm.core.names import SYSTEM


class Selection(NamedTuple):
    """A request and its origin: CVM_TOOLCHAIN, or a file and a line such as `/p/.cuda-version:1`."""

    request: str
    origin: str

    @property
    def is_system(self) -> bool:
        """Whether it asks for no toolchain of ours."""
        return self.request == SYSTEM

    def of(self, name: str) -> str:
        """Say that a toolchain is selected, and by whom."""
        return f"{name} (set by {self.origin})"
