"""Wires the commands together, and is the one error boundary."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from cvm import __version__
from cvm.cli.context import Context, real_environment
from cvm.cli.output import ReaderGoneError, answer, answer_json_error, complain, leave_stdout
from cvm.cli.signals import Stopped, catch_stopping, die_of
from cvm.disk import disk_error
from cvm.errors import CvmError, InterruptError, UsageError
from cvm.layout import Layout

# A command is imported when it is called: `cvm --version` loads none.
COMMANDS = {
    "install": ("cvm.cli.install", "Install a toolkit, and companions such as cuDNN, side by side with the others."),
    "uninstall": ("cvm.cli.uninstall", "Remove a toolchain, and the archives that no other one uses."),
    "list": ("cvm.cli.list", "List the installed toolchains."),
    "list-remote": ("cvm.cli.list_remote", "List the releases that can be installed."),
    "verify": ("cvm.cli.verify", "Compare the files of a toolchain with its receipt."),
    "use": ("cvm.cli.use", "Switch this shell to a toolchain."),
    "unuse": ("cvm.cli.unuse", "Put this shell back as it was."),
    "local": ("cvm.cli.local", "Select a toolchain for this folder and those below."),
    "global": ("cvm.cli.global_default", "Select a toolchain for wherever nothing else does."),
    "current": ("cvm.cli.current", "Say which toolchain is selected here, and by what."),
    "which": ("cvm.cli.which", "Say where a CUDA tool is."),
    "exec": ("cvm.cli.exec_command", "Run a command with a toolchain."),
    "env": ("cvm.cli.env", "Print the environment of a toolchain, for a shell, a Dockerfile, a module system."),
    "doctor": ("cvm.cli.doctor", "Say whether CUDA programs here will load, and if not, what to do."),
    "link": ("cvm.cli.link", "Adopt a toolkit that is already on this machine."),
    "prune": ("cvm.cli.prune", "Remove what no toolchain uses."),
    "cache": ("cvm.cli.cache", "Show or clear the download cache."),
    "init": ("cvm.cli.init", "Teach a shell to switch."),
    "completions": ("cvm.cli.completions", "Print the completion script of a shell."),
    "rehash": ("cvm.cli.rehash", "Write shims and links anew."),
    "manifest": ("cvm.cli.manifest", "Keep the manifests up to date."),
}


class LazyGroup(click.Group):
    """A group that knows the names and summaries of its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """Return the names in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest names for a command that doesn't exist."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=2)
            if near:
                raise click.UsageError(f"{error.message} Did you mean {' or '.join(near)}?", ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


# What `cvm` alone says: all that somebody new needs.
WELCOME = """\
cvm keeps CUDA toolkits and cuDNN side by side, without root.

  cvm init --write                       once: new shells can switch
  cvm install 12.1 --with-cudnn 8.9.4    a toolkit, and cuDNN with it
  cvm use 12.1                           this shell, at once
  cvm local 12.1                         this folder, from now on
  cvm list                               what is installed
  cvm doctor                             will PyTorch load the right libraries?

cvm --help names all commands, and cvm COMMAND --help explains one."""


@click.command(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nTo begin:\n  cvm init --write\n  cvm install 12.1 --with-cudnn 8.9.4\n  cvm use 12.1",
)
@click.version_option(__version__, message="cvm %(version)s")
@click.option("-q", "--quiet", is_flag=True, help="Print answers and errors only.")
@click.pass_context
def cli(ctx: click.Context, *, quiet: bool) -> None:
    """Keep CUDA toolkits and cuDNN side by side, without root."""
    if ctx.invoked_subcommand is None:
        answer(WELCOME)
        return
    environment = real_environment()
    ctx.obj = Context(Layout.from_environment(environment), environment, quiet)


def main(arguments: list[str] | None = None) -> int:
    """Run cvm and return its exit code: every failure that is expected ends here, in one sentence."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        result: Any = cli.main(given, prog_name="cvm", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _fail(UsageError(error.format_message().rstrip("."), hint=_help_hint(error, given)), given)
    except ReaderGoneError:
        return 0
    except Stopped as stopped:
        _fail(InterruptError(f"stopped by {stopped.name}; the next run goes on from here"), given)
        raise
    except (CvmError, OSError, KeyboardInterrupt, click.exceptions.Abort) as error:
        return _fail(_expected(error), given)
    return result if isinstance(result, int) else 0


def _expected(error: BaseException) -> CvmError:
    """Say what failed in one of cvm's errors."""
    if isinstance(error, CvmError):
        return error
    if isinstance(error, OSError):
        # Whatever the disk refuses where nobody foresaw it is no fault of the program.
        return disk_error(error, Path(str(error.filename or "the disk")))
    return InterruptError("interrupted; the next run goes on from here")


def _fail(error: CvmError, given: list[str]) -> int:
    if _wants_json(given):
        with suppress(CvmError):  # Nobody reads it: the exit code is left.
            answer_json_error(
                {"kind": error.kind, "message": error.message, "hint": error.hint, "exit_code": error.exit_code}
            )
    environment = real_environment()
    complain("error:", error.message, "red", environment)
    if error.hint:
        complain("hint:", error.hint, "cyan", environment)
    return error.exit_code


def _wants_json(given: list[str]) -> bool:
    before = given[: given.index("--")] if "--" in given else given
    return "--json" in before or "--format=json" in before or ("--format", "json") in pairwise(before)


def _help_hint(error: click.ClickException, given: list[str]) -> str:
    ctx = getattr(error, "ctx", None)
    if ctx:
        return f"{ctx.command_path} --help"
    # An option without its value is found before Click knows whose it is.
    command = next((word for word in given if word in COMMANDS), "")
    return " ".join(filter(None, ("cvm", command, "--help")))


def run() -> None:
    """Enter from the shell."""
    catch_stopping()
    try:
        code = main()
    except Stopped as stopped:
        leave_stdout()
        die_of(stopped.number)
        code = 128 + stopped.number
    leave_stdout()
    sys.exit(code)
