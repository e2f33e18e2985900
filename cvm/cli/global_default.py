"""`cvm global`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, pass_context
from cvm.errors import NotInstalledError, UsageError


@click.command("global", epilog="Example: cvm global 12.1")
@click.argument("spec", required=False)
@click.option("--unset", is_flag=True, help="Have no global default any more.")
@pass_context
def command(context: Context, spec: str | None, *, unset: bool) -> None:
    """Select a toolchain for wherever neither `use` nor a .cuda-version does; without SPEC, say which it is.

    `12.1` stays the newest installed 12.1.x; `system` selects none of cvm's.
    """
    from cvm.actions.pin import pin_global, unpin
    from cvm.selected import from_files

    if unset and spec:
        raise UsageError("--unset takes no SPEC", hint="cvm global --unset")
    if unset:
        context.talk("unset" if unpin(context.layout.global_file) else "there was no global default")
        return
    if spec:
        path = pin_global(spec, context.layout)
        answer(f"{spec} is the global default, in {path}")
        return
    chosen = from_files(context.layout, None)
    if chosen is None:
        raise NotInstalledError("there is no global default", hint="cvm global 12.1")
    answer(chosen.of(chosen.request))
