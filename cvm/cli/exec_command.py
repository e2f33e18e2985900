"""`cvm exec`."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import click

from cvm.cli.context import Context, pass_context
from cvm.cli.selecting import here, library_option
from cvm.core.names import SYSTEM
from cvm.errors import CannotRunError, ToolMissingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXAMPLES = """\b
Examples:
  cvm exec 11.8 -- nvcc --version
  cvm exec -- make -j        with what this folder selects
  ENTRYPOINT ["cvm", "exec", "12.4", "--"]"""


class BehindDashes(click.Command):
    """A command that takes everything after the first `--` as it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split off what is to be run, so that Click doesn't look at it."""
        if "--" in args:
            index = args.index("--")
            ctx.meta["argv"] = args[index + 1 :]
            args = args[:index]
        return super().parse_args(ctx, args)


@click.command("exec", cls=BehindDashes, epilog=_EXAMPLES, options_metavar="[OPTIONS]")
@click.argument("spec", required=False, metavar="[SPEC] -- CMD...")
@library_option
@pass_context
@click.pass_context
def command(ctx: click.Context, context: Context, spec: str | None, rule: str | None) -> None:
    """Run a command with a toolchain, and become it: its exit code, its signals.

    Without SPEC it is what this folder selects. For scripts, cron, Dockerfiles, ssh, IDEs: where no rc file is read.
    """
    from cvm.core.environment import usual_path

    argv = ctx.meta.get("argv", [])
    if not argv:
        raise UsageError("there is no command to run", hint=f"cvm exec {spec or '12.1'} -- nvcc --version")
    environment = _environment(context, spec, rule)
    # Without a PATH, execvp and shells would take the usual folders: the toolchain's are not to replace them.
    usual = {} if "PATH" in context.environment else {"PATH": usual_path(environment.get("PATH", ""))}
    become(argv, {**environment, **usual})


def _environment(context: Context, spec: str | None, rule: str | None) -> Mapping[str, str]:
    from cvm.actions.choose import choose_here
    from cvm.actions.switch import select_none, switch
    from cvm.actions.use import insisting

    if spec == SYSTEM:
        return select_none(context.environment, context.layout)
    chosen, _ = choose_here(spec, here(context))
    switched = switch(chosen, context.environment, context.layout, rule)
    for note in switched.notes:
        context.talk(note)
    return insisting(switched.environment, rule)


def become(argv: list[str], environment: Mapping[str, str]) -> None:
    """Replace this process by a command; raises ToolMissingError, CannotRunError."""
    # Python ignores these two, and what it starts would go on ignoring them.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, dict(environment))  # noqa: S606 - becoming what was asked for is the point
    except FileNotFoundError as error:
        raise _missing(argv[0]) from error
    except OSError as error:
        raise CannotRunError(f"`{argv[0]}` can't be run: {str(error.strerror).lower()}") from error
    except ValueError as error:
        raise UsageError(f"`{argv[0]}` can't be run: {error}") from error


def _missing(program: str) -> ToolMissingError:
    if os.path.lexists(program) and "/" in program:
        return ToolMissingError(f"`{program}` can't be run: its interpreter is not there", hint=f"head -1 {program}")
    where = "there" if "/" in program else "on PATH"
    return ToolMissingError(f"`{program}` is not {where}", hint="cvm exec 12.1 -- nvcc --version")
