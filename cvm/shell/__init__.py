"""Environment changes as text: one module a shell, one a format. Values are quoted, never interpolated.

A shell's module has `quote(word)` and `render(changes)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.shell import fish, posix

if TYPE_CHECKING:
    from types import ModuleType

SHELLS: dict[str, ModuleType] = {"bash": posix, "zsh": posix, "fish": fish, "sh": posix}
