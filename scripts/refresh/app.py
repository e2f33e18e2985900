"""The command line of `scripts/refresh_manifests`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from cvm.core.redistrib import RedistribRules, parse_redistrib_rules
from cvm.errors import CvmError
from cvm.sources.index import IndexClient
from refresh.compat import compat_text, table_from_facts, with_releases
from refresh.folder import ManifestFolder, known_contents
from refresh.index import index_text
from refresh.merge import merge
from refresh.pypi import WheelReader
from refresh.redist import read_pins, read_products
from refresh.tables import read_tables
from refresh.wheels import Inspector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cvm.core.manifest import Manifest
    from cvm.core.version import Version

_MANIFESTS = Path(__file__).parents[2] / "manifests"
_CUDNN_COMPAT = "compat/cudnn.toml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh the manifests and say which files changed."""
    options = _parser().parse_args(arguments)
    folder = ManifestFolder(options.output)
    try:
        refresh(options, folder)
    except CvmError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    print("\n".join([*sorted(folder.changed), f"{len(folder.changed)} files changed"]))
    return 0


def refresh(options: argparse.Namespace, folder: ManifestFolder) -> None:
    """Read the sources that are asked for and bring the folder up to date; raises CvmError."""
    rules = parse_redistrib_rules(folder.table("redistrib.toml"))
    products = folder.table("products.toml")["products"]
    committed = {product: folder.releases(product) for product in products}
    session = _session()
    pins = read_pins(options.pins) if options.pins else {}
    redist = read_products(options.redist, products, rules, pins, session) if options.redist else {}
    pypi = _read_index(options, session, committed, rules) if options.use_index else None
    tables = read_tables()
    releases = {
        product: merge(
            committed[product],
            {manifest.version: manifest for manifest in redist.get(product, ())},
            None if pypi is None else pypi[product],
            tables,
            products[product]["license"],
        )
        for product in products
    }
    for product, found in releases.items():
        folder.write_releases(product, found)
    folder.write("index.toml", index_text(releases, {key: item["main"] for key, item in products.items()}))
    folder.write(_CUDNN_COMPAT, _compat(options, folder, releases["cudnn"]))


def _read_index(
    options: argparse.Namespace,
    session: requests.Session,
    committed: Mapping[str, Mapping[Version, Manifest]],
    rules: RedistribRules,
) -> Mapping[str, Mapping[Version, Manifest]]:
    tables = read_tables()
    known = {sha256: item for found in committed.values() for sha256, item in known_contents(found).items()}
    if options.index:
        client = IndexClient(session, options.index)
    else:
        client = IndexClient.from_environment(os.environ, Path.home(), session)
    reader = WheelReader(client, session, tables, Inspector(session, tables, known))
    companions = {product: reader.companions(product, rules) for product in tables.companions}
    return {"cuda": reader.toolkits(), **companions}


def _compat(options: argparse.Namespace, folder: ManifestFolder, releases: Mapping[Version, Manifest]) -> str:
    if options.cudnn_compat:
        facts = json.loads(options.cudnn_compat.read_text(encoding="utf-8"))
        return compat_text(table_from_facts(facts, releases.values()))
    table = folder.table(_CUDNN_COMPAT) or {"releases": [], "sources": {}}
    return compat_text(with_releases(table, releases.values()))


def _session() -> requests.Session:
    session = requests.Session()
    adapter = HTTPAdapter(pool_maxsize=16, max_retries=Retry(4, backoff_factor=0.5, status_forcelist=(429, 502, 503)))
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="refresh_manifests", description=__doc__)
    parser.add_argument("--redist", metavar="DIR_OR_URL", help="NVIDIA's redistrib JSON: a folder, or the base address")
    parser.add_argument("--pins", type=Path, metavar="FILE", help="sha256 that those files must have (TSV)")
    parser.add_argument("--index", metavar="URL", help="the package index (default: as pip and uv are configured)")
    parser.add_argument("--no-index", dest="use_index", action="store_false", help="leave the wheels as they are")
    parser.add_argument("--cudnn-compat", type=Path, metavar="FILE", help="facts about cuDNN's builds, as JSON")
    parser.add_argument(
        "--output", type=Path, default=_MANIFESTS, help="the folder of manifests (default: %(default)s)"
    )
    return parser
