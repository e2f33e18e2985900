"""What the commands that switch have in common: the selection in force, and its toolchain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cvm.core.names import SYSTEM
from cvm.errors import NotInstalledError, UsageError
from cvm.selected import selection
from cvm.settings import LIBRARY_RULES, library_rule

if TYPE_CHECKING:
    from cvm.cli.context import Context
    from cvm.core.selection import Selection
    from cvm.core.toolchain import Toolchain

library_option = click.option(
    "--ld-library-path",
    "rule",
    type=click.Choice(LIBRARY_RULES),
    help="Put the libraries on LD_LIBRARY_PATH: unless the active Python has its own (auto), always, never.",
)


def rule_of(context: Context, rule: str | None) -> str:
    """Return how to treat LD_LIBRARY_PATH: as the option says, else as CVM_LD_LIBRARY_PATH does."""
    return rule or library_rule(context.environment)


def selected(context: Context) -> Selection:
    """Return the selection in force; raises NotInstalledError where nothing selects a toolchain."""
    found = selection(context.layout, context.environment, context.folder)
    if found is None:
        raise NotInstalledError("no toolchain is selected", hint="cvm use 12.1, cvm local 12.1 or cvm global 12.1")
    return found


def toolchain_of(context: Context, spec: str | None) -> tuple[Toolchain, str]:
    """Return the toolchain of a request, or of the selection, and how to speak of it: with its origin."""
    from cvm.toolchains import find

    if spec == SYSTEM:
        raise UsageError("`system` is no toolchain", hint="cvm list")
    if spec is not None:
        toolchain = find(context.layout, spec)
        return toolchain, toolchain.name
    chosen = selected(context)
    if chosen.is_system:
        raise NotInstalledError(f"{chosen.of('system')}: no toolchain is selected", hint="cvm list")
    try:
        toolchain = find(context.layout, chosen.request)
    except NotInstalledError as error:
        raise NotInstalledError(chosen.of(error.message), hint=error.hint) from error
    return toolchain, chosen.of(toolchain.name)


def named(context: Context, chosen: Selection | None) -> tuple[str | None, str | None]:
    """Return the name and the prefix of the selected toolchain, None for the system's; reads no receipt if it can."""
    from cvm.resolved import resolve

    if chosen is None or chosen.is_system:
        return None, None
    answer = resolve(context.layout, chosen.request)
    if answer is not None:
        return answer.name, str(answer.prefix)
    toolchain, _ = toolchain_of(context, None)
    return toolchain.name, toolchain.prefix
