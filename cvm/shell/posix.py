"""Environment changes for sh, dash, bash and zsh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.shell.quote import quote_posix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cvm.core.environment import Change

quote = quote_posix


def render(changes: Iterable[Change]) -> str:
    """Write a command for each change, to be evaluated."""
    return "".join(_command(change) + "\n" for change in changes)


def _command(change: Change) -> str:
    if change.value is None:
        return f"unset {change.name}"
    if change.front:
        return f'export {change.name}={quote(change.front)}"${{{change.name}:+:${change.name}}}"'
    return f"export {change.name}={quote(change.value)}"
