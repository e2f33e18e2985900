"""`cvm list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context
from cvm.core.receipt import LINKED

if TYPE_CHECKING:
    from cvm.core.toolchain import Toolchain


@click.command("list", epilog="Example: cvm list --json")
@json_option
@pass_context
def command(context: Context, *, as_json: bool) -> None:
    """List the installed toolchains."""
    from cvm.toolchains import installed

    toolchains = installed(context.layout)
    if as_json:
        answer_json("list", home=str(context.layout.home), toolchains=[as_dict(t) for t in toolchains])
        return
    if not toolchains:
        context.talk("nothing is installed yet; try `cvm install 12.1 --with-cudnn auto`")
    width = max((len(toolchain.name) for toolchain in toolchains), default=0)
    for toolchain in toolchains:
        answer(f"{toolchain.name:{width}}  {_remark(toolchain)}".rstrip())


def as_dict(toolchain: Toolchain) -> dict[str, object]:
    """Describe a toolchain in JSON."""
    receipt = toolchain.receipt
    return {
        "name": toolchain.name,
        "kind": receipt.kind,
        "toolkit": str(toolchain.toolkit),
        "companions": {product: str(version) for product, version in toolchain.companions.items()},
        "prefix": toolchain.prefix,
        "platform": receipt.platform,
        "profile": receipt.profile,
        "sources": sorted({component.source for component in receipt.components}),
        "created": receipt.created,
        "site": toolchain.site,
    }


def _remark(toolchain: Toolchain) -> str:
    if toolchain.receipt.kind == LINKED:
        return f"CUDA {toolchain.toolkit}, linked: {toolchain.prefix}"
    return f"{toolchain.prefix}{' (site)' if toolchain.site else ''}"
