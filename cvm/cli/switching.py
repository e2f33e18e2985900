"""Telling a shell what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.core.environment import difference
from cvm.errors import UsageError
from cvm.shell import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping


def code(shell: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the commands that bring a shell from one environment to another; raises UsageError for an unknown one."""
    if shell not in SHELLS:
        raise UsageError(f"`{shell}` is no shell that cvm knows", hint=f"one of {', '.join(SHELLS)}")
    text: str = SHELLS[shell].render(difference(before, after))
    return text.removesuffix("\n")
