"""`cvm manifest`."""

from __future__ import annotations

import click

from cvm.cli.context import Context, answer, answer_json, json_option, pass_context


@click.group("manifest")
def command() -> None:
    """Keep the manifests up to date: they say what can be installed, and what each archive must be."""


@command.command(
    "refresh",
    short_help="Bring releases that are newer than this cvm.",
    epilog="\b\nExamples:\n  cvm manifest refresh\n  cvm manifest refresh cudnn --redist ~/mirror",
)
@click.argument("products", nargs=-1, metavar="[PRODUCT]...")
@click.option("--redist", metavar="URL|FOLDER", help="Read from here instead of NVIDIA's host or CVM_REDIST_URL.")
@click.option("--force", is_flag=True, help="Read known releases again.")
@json_option
@pass_context
def refresh(context: Context, products: tuple[str, ...], redist: str | None, *, force: bool, as_json: bool) -> None:
    """Bring releases that are newer than this cvm into $CVM_HOME/manifests.

    NVIDIA does not sign its manifests: what they say is trusted as far as the connection is.
    """
    from dataclasses import replace

    from cvm.actions.refresh import refresh as run
    from cvm.catalog import Catalog
    from cvm.settings import Settings
    from cvm.sources.servers import Servers

    settings = Settings.from_environment(context.environment)
    servers = Servers(replace(settings, redist_url=redist) if redist else settings)
    catalog = Catalog(context.layout)
    added = run(products or tuple(catalog.redist_products), catalog, context.layout, servers, force=force)
    if as_json:
        found = [{"product": item.product, "version": str(item.version)} for item in added]
        answer_json("manifest-refresh", folder=str(context.layout.manifests), added=found)
        return
    for item in added:
        answer(f"{item.product} {item.version}: {item.path}")
    if not added:
        context.talk("no release is newer than what cvm knows")
