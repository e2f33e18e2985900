"""`cvm link`."""

from __future__ import annotations

from pathlib import Path

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context


@click.command("link", epilog="Example: cvm link site /usr/local/cuda-12.4")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Take the name over when it is linked already.")
@json_option
@pass_context
def command(context: Context, name: str, path: Path, *, force: bool, as_json: bool) -> None:
    """Adopt the toolkit at PATH under NAME, which starts with a letter. Nothing in it is touched.

    Its version is read from version.json or its headers.
    """
    from cvm.actions.link import link
    from cvm.cli.locking import hold
    from cvm.cli.machine import now, this_platform

    with hold(context):
        receipt = link(name, path, context.layout, platform=this_platform(), created=now(), force=force)
    if as_json:
        answer_json(
            "link",
            name=name,
            toolkit=receipt.toolkit,
            companions=dict(receipt.companions),
            prefix=receipt.path,
        )
        return
    answer(f"{name} is CUDA {receipt.toolkit} at {receipt.path}")
