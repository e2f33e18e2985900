"""`cvm cache`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, human_size, json_option, pass_context


@click.group("cache")
def command() -> None:
    """Show or clear the download cache: archives that have arrived in part, so that the next run goes on from there."""


@command.command("dir", epilog="Example: du -sh $(cvm cache dir)")
@json_option
@pass_context
def directory(context: Context, *, as_json: bool) -> None:
    """Print where the cache is."""
    from cvm.actions.cache import cached_files

    if as_json:
        size = sum(path.stat().st_size for path in cached_files(context.layout))
        answer_json("cache-dir", path=str(context.layout.cache), size=size)
        return
    answer(str(context.layout.cache))


@command.command("clear", epilog="Example: cvm cache clear")
@json_option
@pass_context
def clear(context: Context, *, as_json: bool) -> None:
    """Delete what is in the cache."""
    from cvm.actions import cache
    from cvm.cli.locking import hold

    with hold(context):
        freed = cache.clear(context.layout)
    if as_json:
        answer_json("cache-clear", freed=freed)
        return
    context.talk(f"freed {human_size(freed)}")
