"""Telling a shell what to change, and following the folder it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.actions.switch import switch, unswitch
from cvm.cli.context import answer
from cvm.cli.selecting import toolchain_of
from cvm.core.environment import TOOLCHAIN, difference
from cvm.errors import CvmError, UsageError
from cvm.selected import selection
from cvm.shell import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.cli.context import Context


def emit(shell: str, context: Context, after: Mapping[str, str]) -> None:
    """Print the commands that bring a shell from its environment to another."""
    if shell not in SHELLS:
        raise UsageError(f"`{shell}` is no shell that cvm knows", hint=f"one of {', '.join(SHELLS)}")
    code = SHELLS[shell].render(difference(context.environment, after))
    if code:
        answer(code.removesuffix("\n"))


def follow_folder(context: Context, rule: str) -> Mapping[str, str]:
    """Return the environment that the selection asks for; a prompt never fails, so what is wrong is only told.

    What a manual `use` selected stays, but its libraries are weighed anew: another Python may be active.
    """
    environment, layout = context.environment, context.layout
    manual = bool(environment.get(TOOLCHAIN))
    try:
        chosen = selection(layout, environment, context.folder)
        if chosen is None or chosen.is_system:
            return environment if manual else unswitch(environment, layout)
        toolchain, said = toolchain_of(context, None)
        switched = switch(toolchain, environment, layout, rule, follow=not manual)
    except CvmError as error:
        context.talk(f"cvm: {error.message}" + (f" ({error.hint})" if error.hint else ""))
        return environment if manual else unswitch(environment, layout)
    if switched.environment != environment:
        for line in (() if manual else (said,), switched.notes):
            for text in line:
                context.talk(f"cvm: {text}")
    return switched.environment
