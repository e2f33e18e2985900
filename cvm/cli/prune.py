"""`cvm prune`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, human_size, json_option, pass_context


@click.command("prune", epilog="Example: cvm prune --dry-run")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@json_option
@pass_context
def command(context: Context, *, dry_run: bool, as_json: bool) -> None:
    """Remove the archives in the store that no toolchain uses, and what killed processes left."""
    from cvm.actions.prune import prune
    from cvm.cli.locking import hold

    with hold(context):
        done = prune(context.layout, dry_run=dry_run)
    if as_json:
        answer_json("prune", archives=list(done.archives), freed=done.freed, dry_run=dry_run)
        return
    for name in done.archives:
        answer(f"{'would remove' if dry_run else 'removed'} {name}")
    context.talk(f"{'would free' if dry_run else 'freed'} {human_size(done.freed)}")
