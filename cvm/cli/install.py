"""`cvm install`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cvm.cli.context import Context, answer_json, json_option, pass_context
from cvm.cli.options import Options
from cvm.core.profile import PROFILES

if TYPE_CHECKING:
    from cvm.core.version import Pattern

_EXAMPLES = """\b
Examples:
  cvm install 12.1 --with-cudnn 8.9.4
  cvm install latest --with-cudnn auto --with-nccl auto
  cvm install 12.1-cudnn8.9.4-nccl2.18
  cvm install 12.4 --profile runtime --dry-run
  cvm install 12.4 --component cuda_cudart --component libcublas
  cvm install 12.1 --from ~/archives"""


@click.command("install", epilog=_EXAMPLES)
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...")
@click.option("--with-cudnn", metavar="V|auto", help="Add cuDNN: a version, or the newest that serves this toolkit.")
@click.option("--with-nccl", metavar="V|auto", help="Add NCCL.")
@click.option("--with", "others", multiple=True, metavar="NAME[=V]", help="Add cudnn, nccl, cutensor or cusparselt.")
@click.option(
    "--source",
    type=click.Choice(["auto", "redist", "pypi", "file"]),
    default="auto",
    show_default=True,
    help="NVIDIA's archives (redist), NVIDIA's wheels (pypi), what a manifest of yours names (file), "
    "or the first that can be reached.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="devel",
    show_default=True,
    help="Libraries only, what building takes, or all with profilers' GUIs and docs.",
)
@click.option("--component", "components", multiple=True, metavar="NAME", help="Only this part of the toolkit.")
@click.option(
    "--from", "path", type=click.Path(path_type=Path, exists=True), help="Take archives, or a toolkit, from here."
)
@click.option("--platform", metavar="KEY", help="Another platform, such as linux-sbsa.")
@click.option("--dry-run", is_flag=True, help="Print the plan, and do nothing.")
@click.option("--reinstall", is_flag=True, help="Check the stored archives, and build the toolchain anew.")
@json_option
@pass_context
def command(
    context: Context,
    /,
    specs: tuple[str, ...],
    with_cudnn: str | None,
    with_nccl: str | None,
    others: tuple[str, ...],
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Install a toolkit, and companions, side by side with the others.

    SPEC is a CUDA version (12, 12.1, 12.1.1, latest), with companions if you like: 12.1-cudnn8.9.4.
    The newest release that fits is taken.
    """
    from cvm.actions.copy import is_toolkit
    from cvm.cli.installing import Installer
    from cvm.core.request import parse_request

    chosen = Options(**options)
    companions = _companions(with_cudnn, with_nccl, others)
    requests = [parse_request(spec).with_companions(companions) for spec in specs]
    installer = Installer(context, chosen, talk=not as_json)
    from_tree = chosen.path is not None and is_toolkit(chosen.path)
    results = [installer.copy(request) if from_tree else installer.install(request) for request in requests]
    if as_json:
        answer_json("install", dry_run=chosen.dry_run, toolchains=results)


def _companions(cudnn: str | None, nccl: str | None, others: tuple[str, ...]) -> dict[str, Pattern]:
    from cvm.core.names import COMPANIONS
    from cvm.core.version import Pattern
    from cvm.errors import UsageError

    # An empty one is no version: a variable in somebody's script was not set.
    named = [] if cudnn is None else [("cudnn", cudnn)]
    named += [] if nccl is None else [("nccl", nccl)]
    for text in others:
        name, _, version = text.partition("=")
        if name not in COMPANIONS:
            raise UsageError(f"`{name}` is not a companion", hint=f"--with one of {', '.join(COMPANIONS)}")
        named.append((name, version or "auto"))
    found: dict[str, Pattern] = {}
    for name, version in named:
        if name in found:
            raise UsageError(f"{name} is asked for twice")
        found[name] = Pattern.parse(version)
    return found
