"""What the commands that switch have in common: where they are asked, and the option for LD_LIBRARY_PATH."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cvm.actions.choose import Here
from cvm.core.library_rule import RULES

if TYPE_CHECKING:
    from cvm.cli.context import Context
    from cvm.core.selection import Selection

library_option = click.option(
    "--ld-library-path",
    "rule",
    type=click.Choice(RULES),
    help="Put the libraries on LD_LIBRARY_PATH: unless the active Python has its own (auto), always, never.",
)


def here(context: Context) -> Here:
    """Say where a question is asked."""
    return Here(context.layout, context.environment, context.folder)


def named(context: Context, selected: Selection | None) -> tuple[str | None, str | None]:
    """Return the name and the prefix of the selected toolchain, None for the system's; reads no receipt if it can."""
    from cvm.actions.choose import choose_selected
    from cvm.resolved import resolve

    if selected is None or selected.is_system:
        return None, None
    answer = resolve(context.layout, selected.request)
    if answer is not None:
        return answer.name, str(answer.prefix)
    chosen, _ = choose_selected(selected, context.layout)
    return chosen.name, chosen.prefix
