"""`cvm completions`."""

from __future__ import annotations

import click

from cvm.cli.context import answer

_EXAMPLES = """\b
Examples (cvm init brings them too):
  cvm completions bash > ~/.local/share/bash-completion/completions/cvm
  cvm completions zsh > ~/.zfunc/_cvm
  cvm completions fish > ~/.config/fish/completions/cvm.fish"""


@click.command("completions", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from cvm.actions.integrate import completions

    answer(completions(shell).removesuffix("\n"))
