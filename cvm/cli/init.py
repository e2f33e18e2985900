"""`cvm init`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, pass_context
from cvm.errors import CvmError, UsageError
from cvm.shell import SHELLS

_EXAMPLES = """\b
Examples:
  cvm init --write               once: all new shells of this kind know cvm
  eval "$(cvm init bash)"        in this shell, or in ~/.bashrc
  cvm init fish | source         in fish"""


@click.command("init", epilog=_EXAMPLES)
@click.argument("shell", required=False, type=click.Choice(list(SHELLS)))
@click.option("--write", is_flag=True, help="Let the shell's rc file read it; says what was written where.")
@click.option("--dry-run", is_flag=True, help="With --write: say what would be written, and write nothing.")
@click.option("--no-auto-switch", is_flag=True, help="Don't follow .cuda-version files when the folder changes.")
@pass_context
def command(context: Context, shell: str | None, *, write: bool, dry_run: bool, no_auto_switch: bool) -> None:
    """Teach a shell to switch: print a function, the hook, completions, and the shims on PATH.

    SHELL is the one that you are in, unless you name one. At a prompt it follows the .cuda-version of the folder.
    """
    from cvm.actions.integrate import integration, write_integration
    from cvm.cli.machine import calling_shell, this_program

    if dry_run and not write:
        raise UsageError("--dry-run goes with --write", hint="cvm init --write --dry-run")
    chosen = shell or calling_shell(context.environment)
    follow, unusual = not no_auto_switch, _is_unusual(context)
    text = integration(chosen, this_program(), context.layout, follow=follow, unusual=unusual)
    if not write:
        answer(text.removesuffix("\n"))
        return
    done = write_integration(chosen, text, context.environment, context.layout, dry_run=dry_run)
    would = "would be " if dry_run else ""
    answer(f"{done.integration} {would}written")
    if done.added:
        answer(f"{done.rc_file} {would}given the line: {done.line}")
        context.talk("new shells know cvm; for this one, start another or read that file again")
    else:
        answer(f"{done.rc_file} has its line already")


def _is_unusual(context: Context) -> bool:
    from cvm.layout import usual_home

    try:
        return bool(context.environment.get("CVM_HOME")) and context.layout.home != usual_home()
    except CvmError:
        return True
