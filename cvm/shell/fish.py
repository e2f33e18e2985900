"""Environment changes for fish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.shell.quote import quote_fish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.environment import Change

quote = quote_fish


def render(changes: Iterable[Change]) -> str:
    """Write a command for each change, to be sourced."""
    return "".join(_command(change) + "\n" for change in changes)


def _command(change: Change) -> str:
    if change.value is None:
        return f"set -e {change.name}"
    if change.front:
        return f"set -gx {change.name} {quote(change.front)} ${change.name}"
    return f"set -gx {change.name} {quote(change.value)}"
