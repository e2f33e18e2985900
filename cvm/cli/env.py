"""`cvm env`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cvm.cli.context import Context, answer, pass_context
from cvm.cli.selecting import here, library_option
from cvm.errors import UsageError
from cvm.shell import SHELLS
from cvm.shell.formats import FORMATS

if TYPE_CHECKING:
    from cvm.actions.switch import Switched

_EXAMPLES = """\b
Examples:
  eval "$(cvm env 12.1)"                              in a script
  cvm env 12.1 --format dockerfile                    ENV lines
  cvm env 12.1 --format github >> "$GITHUB_ENV"       for the next steps of a job
  cvm env 12.1 --format modulefile > modules/cuda/12.1
  cvm env --format json                               for an IDE; what this folder selects"""


@click.command("env", epilog=_EXAMPLES)
@click.argument("spec", required=False)
@click.option("--shell", type=click.Choice(list(SHELLS)), help="Commands for this shell; sh is usual.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", *FORMATS]),
    help="Text for something else than a shell.",
)
@library_option
@pass_context
def command(context: Context, spec: str | None, shell: str | None, form: str | None, rule: str | None) -> None:
    """Print the environment of a toolchain, to be evaluated or kept.

    Without SPEC it is that of the selection.
    """
    from cvm.actions.choose import choose_here
    from cvm.actions.switch import switch
    from cvm.cli.switching import code
    from cvm.shell.formats import Exported

    if shell and form:
        raise UsageError("--shell and --format don't go together", hint="cvm env --help")
    chosen, _ = choose_here(spec, here(context))
    switched = switch(chosen, context.environment, context.layout, rule)
    for note in switched.notes:
        context.talk(note)
    if form == "json":
        _answer_json(context, switched)
    elif form:
        exported = Exported(switched.activation, switched.environment, chosen.name)
        answer(FORMATS[form](exported).removesuffix("\n"))
    else:
        answer(code(shell or "sh", context.environment, switched.environment))


def _answer_json(context: Context, switched: Switched) -> None:
    from cvm.cli.context import answer_json
    from cvm.core.environment import clean_variables, difference

    wanted = switched.activation
    texts = [*wanted.values.values(), *(element for front in wanted.elements.values() for element in front)]
    for text in texts:
        if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise UsageError(f"{text!a} is not UTF-8, which JSON needs", hint="cvm env --shell sh")
    gone = [change.name for change in difference(context.environment, switched.environment) if change.value is None]
    answer_json(
        "env",
        set=dict(wanted.values),
        prepend={name: list(front) for name, front in wanted.elements.items()},
        unset=[name for name in gone if not name.startswith("_CVM_")],
        variables=clean_variables(wanted),
    )
