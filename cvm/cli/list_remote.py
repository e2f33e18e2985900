"""`cvm list-remote`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context

if TYPE_CHECKING:
    from cvm.actions.remote import Remote


@click.command(
    "list-remote",
    epilog="\b\nExamples:\n  cvm list-remote\n  cvm list-remote 12\n  cvm list-remote cudnn 8.9",
)
@click.argument("product", required=False, default="cuda")
@click.argument("version", required=False)
@click.option("--platform", metavar="KEY", help="Another platform, such as linux-sbsa.")
@json_option
@pass_context
def command(context: Context, product: str, version: str | None, platform: str | None, *, as_json: bool) -> None:
    """List the releases that can be installed, with the sources that have them and the newest cuDNN for each toolkit.

    PRODUCT is cuda (the default), cudnn, nccl, cutensor or cusparselt; VERSION narrows the list.
    """
    from cvm.actions.planning import AUTO
    from cvm.actions.remote import remote_releases
    from cvm.catalog import Catalog
    from cvm.cli.machine import this_platform
    from cvm.core.platform import parse_platform
    from cvm.core.resolve import Choices
    from cvm.core.version import Pattern

    if product[:1].isdigit() or product == "latest":
        product, version = "cuda", product
    choices = Choices(parse_platform(platform) if platform else this_platform(), AUTO)
    pattern = Pattern.parse(version) if version else None
    releases = remote_releases(product, pattern, Catalog(context.layout), choices)
    if as_json:
        answer_json(
            "list-remote",
            product=product,
            platform=choices.platform,
            releases=[_as_dict(release) for release in releases],
        )
        return
    for release in releases:
        answer(_line(release))


def _as_dict(release: Remote) -> dict[str, object]:
    return {
        "version": str(release.version),
        "sources": list(release.sources),
        "cuda_variants": list(release.variants),
        "cudnn": str(release.cudnn) if release.cudnn else None,
    }


def _line(release: Remote) -> str:
    parts = [f"{release.version!s:10}", f"{', '.join(release.sources):14}"]
    if release.cudnn:
        parts.append(f"cuDNN {release.cudnn}")
    if release.variants:
        parts.append(", ".join(release.variants))
    return "  ".join(parts).rstrip()
