"""Taking the install lock on behalf of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.lock import changing

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from cvm.cli.context import Context


def hold(context: Context) -> AbstractContextManager[None]:
    """Hold the lock of the home, and tell the person when that takes waiting."""
    return changing(context.layout, lambda holder: context.talk(f"waiting for {holder}, which is changing this home"))
