"""`cvm use`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, pass_context
from cvm.cli.selecting import here, library_option
from cvm.errors import CvmError, UsageError

_EXAMPLES = """\b
Examples:
  cvm use 12.1              this shell, at once
  cvm use -                 back to the one before
  cvm use 12.4 --install    install it first where it is missing
  cvm use system            none of cvm's; whatever else is on PATH"""


@click.command("use", epilog=_EXAMPLES)
@click.argument("spec", required=False)
@click.option("--install", "install_missing", is_flag=True, help="Install the toolchain where it is missing.")
@library_option
@click.option("--auto", "follow", is_flag=True, hidden=True, help="Do what the folder selects; for the prompt's hook.")
@pass_context
def command(context: Context, spec: str | None, rule: str | None, *, install_missing: bool, follow: bool) -> None:
    """Switch this shell to a toolchain, until `cvm unuse`.

    SPEC is what `install` takes, or a linked toolkit's name. Without one, it is what this folder selects.
    """
    from cvm.actions import use
    from cvm.cli.switching import code

    shell = shell_of(context)
    if install_missing and spec:
        _install(context, spec)
    asked = here(context)
    used = use.follow(asked) if follow else use.use(spec, asked, rule)
    for note in used.notes:
        context.talk(note)
    if text := code(shell, context.environment, used.environment):
        answer(text)


def shell_of(context: Context) -> str:
    """Return the shell that evaluates the answer; raises UsageError where none would."""
    if context.shell is None:
        from cvm.cli.machine import calling_shell

        shell = calling_shell(context.environment)
        line = "cvm init fish | source" if shell == "fish" else f'eval "$(cvm init {shell})"'
        raise UsageError(
            "this shell does not know cvm yet, and a program can't change the shell that starts it",
            hint=f"{line}, or cvm init --write for all new shells; cvm exec runs one command",
        )
    return context.shell


def _install(context: Context, spec: str) -> None:
    from cvm.actions.choose import choose
    from cvm.cli.installing import Installer
    from cvm.cli.options import Options
    from cvm.core.request import parse_request

    try:
        choose(spec, context.layout)
    except CvmError:
        Installer(context, Options(), talk=False).install(parse_request(spec))
