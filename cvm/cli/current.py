"""`cvm current`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context


@click.command("current", epilog="Example: cvm current --json")
@json_option
@pass_context
def command(context: Context, *, as_json: bool) -> None:
    """Say which toolchain is selected here, and what selected it.

    A selection that isn't installed exits with 3.
    """
    from cvm.cli.selecting import named
    from cvm.selected import selection

    chosen = selection(context.layout, context.environment, context.folder)
    name, prefix = named(context, chosen)
    if as_json:
        answer_json(
            "current",
            toolchain=name,
            prefix=prefix,
            request=chosen.request if chosen else None,
            origin=chosen.origin if chosen else None,
        )
    elif chosen is None:
        answer("system (nothing is selected)")
        if outside := context.environment.get("CUDA_HOME"):
            context.talk(f"CUDA_HOME is {outside}, which is none of cvm's")
    else:
        answer(chosen.of(name or "system"))
