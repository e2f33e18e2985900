"""`cvm local`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context
from cvm.errors import DiskError, NotInstalledError, UsageError


@click.command("local", epilog="Example: cvm local 12.1-cudnn8.9.4")
@click.argument("spec", required=False)
@click.option("--force", is_flag=True, help="Write it down even if it isn't installed here.")
@click.option("--unset", is_flag=True, help="Remove this folder's .cuda-version.")
@json_option
@pass_context
def command(context: Context, spec: str | None, *, force: bool, unset: bool, as_json: bool) -> None:
    """Select a toolchain for this folder and those below, in a .cuda-version; without SPEC, say which it is.

    Comment lines in that file stay. Commit it: cuvm and cudup read the plain form too.
    """
    from cvm.actions.pin import pin_local, unpin
    from cvm.core.version_file import NAME
    from cvm.selected import nearest_file, read_selection

    if context.folder is None:
        raise DiskError("the current folder is gone", hint="cd to one that is there")
    if unset and spec is not None:
        raise UsageError("--unset takes no SPEC", hint="cvm local --unset")
    if unset:
        there = unpin(context.folder / NAME)
        context.talk(f"removed {context.folder / NAME}" if there else f"there was no {context.folder / NAME}")
    elif spec is not None:
        pin_local(spec, context.folder, context.layout, force=force)
    nearest = nearest_file(context.folder)
    chosen = read_selection(nearest) if nearest else None
    if as_json:
        answer_json("local", request=chosen.request if chosen else None, origin=chosen.origin if chosen else None)
    elif chosen is not None:
        answer(chosen.of(chosen.request))
    elif not unset:
        raise NotInstalledError(f"there is no {NAME} here or above", hint="cvm local 12.1")
