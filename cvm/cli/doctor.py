"""`cvm doctor`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context
from cvm.cli.exec_command import BehindDashes, become
from cvm.cli.output import complain
from cvm.errors import ToolMissingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.actions.doctor import Diagnosis

_EXAMPLES = """\b
Examples:
  cvm doctor                             the active Python, here and now
  cvm doctor /venv --fail-on warning     in CI
  cvm doctor build/libops.so             one ELF file
  cvm doctor -- python train.py          check first, then become the command
  ENTRYPOINT ["cvm", "doctor", "--"]"""

# From the best to the worst.
_VERDICTS = ("ok", "unknown", "warning", "error")


class Choices(NamedTuple):
    """What a person chose beside the targets."""

    quiet: bool
    verbose: bool
    fail_on: str
    root: str
    env: tuple[str, ...]

    def stop(self, verdict: str) -> bool:
        """Whether a verdict is as bad as the one to fail on, or worse."""
        return self.fail_on != "never" and _VERDICTS.index(verdict) >= _VERDICTS.index(self.fail_on)


@click.command("doctor", cls=BehindDashes, epilog=_EXAMPLES, options_metavar="[OPTIONS]")
@click.argument("targets", nargs=-1, type=click.Path(), metavar="[TARGET]... [-- CMD...]")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing unless the verdict is one to fail on.")
@click.option("-v", "--verbose", is_flag=True, help="Add every library and how it is found, step by step.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "unknown", "never"]),
    default="error",
    show_default=True,
    help="The mildest verdict that exits with 1: of error, warning, unknown, ok.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False),
    default="/",
    metavar="DIR",
    help="Look at the system in this folder, such as an unpacked image.",
)
@click.option(
    "--env",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable that the process would have: with --root there are no others.",
)
@json_option
@pass_context
@click.pass_context
def command(ctx: click.Context, context: Context, /, targets: tuple[str, ...], *, as_json: bool, **chosen: Any) -> int:
    """Say whether CUDA programs here will load, and if not: which file, who brought it, what to do.

    TARGET is a Python interpreter, an environment's folder, or an ELF file; without one it is the active Python.
    Nothing is imported or run, and no GPU is needed. With `-- CMD` the report goes to stderr, and cvm becomes CMD
    unless the verdict is one to fail on.

    Exit codes: 0 when the verdict is milder than --fail-on, 1 when it isn't, and CMD's own once CMD is started.
    A check that breaks down counts as unknown, so it keeps CMD from starting only with --fail-on unknown.
    """
    choices = Choices(**{**chosen, "quiet": chosen["quiet"] or context.quiet})
    if "argv" not in ctx.meta:
        return _answered(_diagnosed(targets, context, choices), context, choices, as_json=as_json)
    _refuse_impossible(ctx.meta["argv"], as_json=as_json)
    return _checked(targets, context, choices, ctx.meta["argv"])


def _diagnosed(targets: Sequence[str], context: Context, choices: Choices) -> tuple[Diagnosis, ...]:
    from cvm.actions.doctor import diagnose, visit_to

    relative = next((target for target in targets if not target.startswith("/")), None)
    if relative is not None and context.folder is None and os.path.realpath(choices.root) == "/":
        raise UsageError(f"`{relative}` leads from the current folder, which is gone", hint="cd to another folder")
    return diagnose(targets, visit_to(context.layout, _variables(context, choices), context.folder, choices.root))


def _variables(context: Context, choices: Choices) -> dict[str, str]:
    """Return what a process would start with: of this shell nothing reaches an image."""
    given = dict(_variable(text) for text in choices.env)
    return given if os.path.realpath(choices.root) != "/" else {**context.environment, **given}


def _variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"`{text}` sets no variable", hint="cvm doctor --env LD_LIBRARY_PATH=/opt/cuda/lib64")
    return name, value


def _answered(diagnoses: Sequence[Diagnosis], context: Context, choices: Choices, *, as_json: bool) -> int:
    """Print the report as the answer; returns the exit code."""
    verdict = _verdict(diagnoses)
    stop = choices.stop(verdict)
    if as_json:
        from cvm.cli.doctor_json import document

        answer_json("doctor", **document(diagnoses, verdict))
    elif stop or not choices.quiet:
        answer(_report(diagnoses, choices, colour=_colourful(sys.stdout, context)))
    return int(stop)


def _refuse_impossible(argv: Sequence[str], *, as_json: bool) -> None:
    if not argv:
        raise UsageError("there is no command to run", hint="cvm doctor -- python train.py")
    if as_json:
        raise UsageError("--json writes to stdout, which belongs to the command", hint="cvm doctor --json")


def _checked(targets: Sequence[str], context: Context, choices: Choices, argv: list[str]) -> int:
    """Become the command unless the verdict is one to fail on; raises UsageError for targets that make no sense."""
    try:
        verdict = _told(_diagnosed(targets, context, choices), context, choices)
    except Exception as error:
        if targets and isinstance(error, UsageError):
            raise
        # A check must never keep a long run from starting, whatever is wrong with the check.
        verdict = "unknown"
        why = str(error).partition("\n")[0] or type(error).__name__
        going = "is not started" if choices.stop(verdict) else "starts unchecked"
        complain("warning:", f"the check broke down ({why}): `{argv[0]}` {going}", "yellow", context.environment)
    if choices.stop(verdict):
        return 1
    try:
        become(argv, context.environment)
    except ToolMissingError as error:
        raise ToolMissingError(error.message, hint="cvm doctor -- python train.py") from error
    return 0


def _told(diagnoses: Sequence[Diagnosis], context: Context, choices: Choices) -> str:
    """Print the report on stderr, nothing where all is well; returns the verdict."""
    verdict = _verdict(diagnoses)
    if choices.stop(verdict) or (not choices.quiet and (choices.verbose or verdict != "ok")):
        text = _report(diagnoses, choices, colour=_colourful(sys.stderr, context))
        with suppress(OSError):
            click.echo(os.fsencode(text), err=True)
    return verdict


def _verdict(diagnoses: Sequence[Diagnosis]) -> str:
    return max((one.verdict for one in diagnoses), key=_VERDICTS.index, default="ok")


def _report(diagnoses: Sequence[Diagnosis], choices: Choices, *, colour: bool) -> str:
    from cvm.cli.doctor_report import painted, plain, report

    lines = report(diagnoses, painted if colour else plain, verbose=choices.verbose)
    return "\n".join(lines)


def _colourful(stream: Any, context: Context) -> bool:
    wanted = not context.environment.get("NO_COLOR") and context.environment.get("TERM") != "dumb"
    return wanted and stream is not None and bool(stream.isatty())
