"""`cvm unuse`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, pass_context


@click.command("unuse", epilog="Example: cvm unuse")
@pass_context
def command(context: Context) -> None:
    """Put this shell back as it was before `cvm use`.

    Variables get the values that they had; what was changed since then loses only what cvm added.
    """
    from cvm.actions.switch import remembered, unswitch
    from cvm.cli.switching import emit
    from cvm.cli.use import shell_of

    shell = shell_of(context)
    context.talk("no toolchain of cvm's is in use any more")
    emit(shell, context, remembered(context.environment, unswitch(context.environment, context.layout)))
