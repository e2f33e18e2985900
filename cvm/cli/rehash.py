"""`cvm rehash`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context


@click.command("rehash", epilog="Example: mv ~/cuda /data/cuda && CVM_HOME=/data/cuda cvm rehash")
@json_option
@pass_context
def command(context: Context, *, as_json: bool) -> None:
    """Write shims, links and the toolchains' env.sh anew.

    install, uninstall and link do this themselves; it is needed after a home was moved, and so is `cvm init --write`.
    """
    from cvm.actions.rehash import rehash
    from cvm.cli.locking import hold

    with hold(context):
        tools = rehash(context.layout)
    if as_json:
        answer_json("rehash", shims=str(context.layout.shims), tools=list(tools))
        return
    answer(f"{len(tools)} shims in {context.layout.shims}")
