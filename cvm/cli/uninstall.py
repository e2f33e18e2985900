"""`cvm uninstall`."""

from __future__ import annotations

from contextlib import nullcontext

import click

from cvm.cli.context import Context, answer, answer_json, human_size, json_option, pass_context


@click.command("uninstall", epilog="Example: cvm uninstall 11.8 12.1.1-cudnn8.9.4.25")
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@json_option
@pass_context
def command(context: Context, specs: tuple[str, ...], *, dry_run: bool, as_json: bool) -> None:
    """Remove toolchains, and the archives that no other toolchain uses.

    A request that could mean several toolchains is refused. A linked toolkit itself stays as it is.
    """
    from cvm.actions.uninstall import uninstall
    from cvm.cli.locking import hold

    with nullcontext() if dry_run else hold(context):
        done = uninstall(specs, context.layout, dry_run=dry_run)
    if as_json:
        answer_json("uninstall", removed=list(done.names), freed=done.freed, dry_run=dry_run)
        return
    for name in done.names:
        answer(f"{'would remove' if dry_run else 'removed'} {name}")
    context.talk(f"{'would free' if dry_run else 'freed'} {human_size(done.freed)}")
