"""`cvm list`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context
from cvm.core.receipt import LINKED
from cvm.errors import CvmError

if TYPE_CHECKING:
    from cvm.core.toolchain import Toolchain


@click.command("list", epilog="Example: cvm list --json")
@json_option
@pass_context
def command(context: Context, *, as_json: bool) -> None:
    """List the installed toolchains."""
    from cvm.toolchains import installed

    toolchains = installed(context.layout)
    name, origin = _selected(context)
    if as_json:
        described = [{**as_dict(toolchain), "selected": toolchain.name == name} for toolchain in toolchains]
        answer_json("list", home=str(context.layout.home), toolchains=described)
        return
    if not toolchains:
        context.talk("nothing is installed yet; try `cvm install 12.1 --with-cudnn auto`")
    width = max((len(toolchain.name) for toolchain in toolchains), default=0)
    for toolchain in toolchains:
        mark = f" (selected by {origin})" if toolchain.name == name else ""
        answer(f"{toolchain.name:{width}}  {_remark(toolchain)}{mark}")


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
        "nvcc": _has_nvcc(toolchain),
    }


def _selected(context: Context) -> tuple[str | None, str]:
    """Return the selected toolchain and who selected it; one that can't be read is no reason to list nothing."""
    from cvm.cli.selecting import named
    from cvm.selected import selection

    try:
        chosen = selection(context.layout, context.environment, context.folder)
        return named(context, chosen)[0], chosen.origin if chosen else ""
    except CvmError:
        return None, ""


def _remark(toolchain: Toolchain) -> str:
    lacking = "" if _has_nvcc(toolchain) else " (no nvcc)"
    if toolchain.receipt.kind == LINKED:
        return f"CUDA {toolchain.toolkit}, linked: {toolchain.prefix}{lacking}"
    return f"{toolchain.prefix}{lacking}{' (site)' if toolchain.site else ''}"


def _has_nvcc(toolchain: Toolchain) -> bool:
    return Path(toolchain.prefix, "bin", "nvcc").is_file()
