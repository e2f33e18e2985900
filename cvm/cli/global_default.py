"""`cvm global`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context
from cvm.errors import NotInstalledError, UsageError


@click.command("global", epilog="Example: cvm global 12.1")
@click.argument("spec", required=False)
@click.option("--unset", is_flag=True, help="Have no global default any more.")
@json_option
@pass_context
def command(context: Context, spec: str | None, *, unset: bool, as_json: bool) -> None:
    """Select a toolchain for wherever neither `use` nor a .cuda-version does; without SPEC, say which it is.

    `12.1` stays the newest installed 12.1.x; `system` selects none of cvm's.
    """
    from cvm.actions.pin import pin_global, unpin
    from cvm.selected import from_files

    if unset and spec is not None:
        raise UsageError("--unset takes no SPEC", hint="cvm global --unset")
    if unset:
        there = unpin(context.layout.global_file)
        context.talk("there is no global default any more" if there else "there was no global default")
    elif spec is not None:
        pin_global(spec, context.layout)
    chosen = from_files(context.layout, None)
    if as_json:
        answer_json("global", request=chosen.request if chosen else None, origin=chosen.origin if chosen else None)
    elif chosen is not None:
        answer(chosen.of(chosen.request))
    elif not unset:
        raise NotInstalledError("there is no global default", hint="cvm global 12.1")
