"""`cvm use`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cvm.cli.context import Context, pass_context
from cvm.cli.selecting import library_option, rule_of, toolchain_of
from cvm.errors import CvmError, NotInstalledError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    from cvm.cli.switching import emit, follow_folder

    shell = shell_of(context)
    if follow:
        emit(shell, context, follow_folder(context, rule_of(context, rule)))
        return
    if install_missing and spec:
        _install(context, spec)
    emit(shell, context, _used(context, spec, rule_of(context, rule)))


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


def _used(context: Context, spec: str | None, rule: str) -> Mapping[str, str]:
    from cvm.actions.switch import PREVIOUS, remembered, switch, system, unswitch
    from cvm.core.environment import TOOLCHAIN

    environment, layout = context.environment, context.layout
    if spec == "-":
        spec = environment.get(PREVIOUS)
        if spec is None:
            if not environment.get(TOOLCHAIN):
                raise NotInstalledError("no toolchain was in use before in this shell", hint="cvm use 12.1")
            context.talk("no toolchain of cvm's is in use any more")
            return remembered(environment, unswitch(environment, layout))
    if spec == "system":
        context.talk("system is in use: no toolchain of cvm's")
        return remembered(environment, system(environment, layout))
    toolchain, said = toolchain_of(context, spec)
    switched = switch(toolchain, environment, layout, rule)
    context.talk(f"{said} is in use")
    for note in switched.notes:
        context.talk(note)
    return remembered(environment, dict(switched.environment))


def _install(context: Context, spec: str) -> None:
    from cvm.cli.installing import Installer
    from cvm.cli.options import Options
    from cvm.core.request import parse_request
    from cvm.toolchains import find

    try:
        find(context.layout, spec)
    except CvmError:
        Installer(context, Options(), talk=False).install(parse_request(spec))
