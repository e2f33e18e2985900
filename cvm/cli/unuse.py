"""`cvm unuse`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, pass_context


@click.command("unuse", epilog="Example: cvm unuse")
@pass_context
def command(context: Context) -> None:
    """Put this shell back as it was before `cvm use`.

    Variables get the values that they had; what was changed since then loses only what cvm added.
    """
    from cvm.actions.use import unuse
    from cvm.cli.selecting import here
    from cvm.cli.switching import code
    from cvm.cli.use import shell_of

    shell = shell_of(context)
    used = unuse(here(context))
    for note in used.notes:
        context.talk(note)
    if text := code(shell, context.environment, used.environment):
        answer(text)
