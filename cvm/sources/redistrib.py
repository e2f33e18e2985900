"""NVIDIA's redistrib manifests on a server or in a folder that mirrors it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

from cvm.core.redistrib import RedistribRules, read_redistrib, redistrib_labels
from cvm.errors import UsageError
from cvm.net import Policy
from cvm.sources.index import answering, redacted
from cvm.sources.redist import product_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import requests

    from cvm.core.manifest import Manifest

_NAME = re.compile(r"redistrib_[0-9.]+\.json")
_PATIENCE = Policy()


@dataclass(frozen=True, slots=True)
class Redistrib:
    """The redistrib manifests of one product: `labels` names them, `read` returns the bytes of one."""

    product: str
    where: str
    labels: tuple[str, ...]
    read: Callable[[str], bytes]
    rules: RedistribRules

    def manifest(self, label: str) -> Manifest:
        """Read a release; raises UsageError when the file is no redistrib manifest, NetworkError."""
        where = self.where + file_name(label)
        return read_redistrib(_parse(self.read(file_name(label)), where), self.product, label, where, self.rules)

    def sha256(self, label: str) -> str:
        """Hash the file of a release, to compare it with what others have pinned."""
        return hashlib.sha256(self.read(file_name(label))).hexdigest()


def file_name(label: str) -> str:
    """Name the file of a release."""
    return f"redistrib_{label}.json"


def open_redistrib(
    where: str, product: str, rules: RedistribRules, session: requests.Session, policy: Policy = _PATIENCE
) -> Redistrib:
    """Look which redistrib manifests of a product there are below a base URL, or in a folder.

    Raises NetworkError, or UnreachableError without a connection; UsageError where there is no such folder.
    """
    if where.startswith("file:"):
        return _in_folder(Path(url2pathname(urlsplit(where).path)), product, rules)
    if "://" in where:
        folder = product_url(where, product)
        names = set(_NAME.findall(_get(session, folder, policy).decode("utf-8", errors="replace")))
        labels = redistrib_labels(product, sorted(names), rules)
        return Redistrib(
            product, redacted(folder), labels, lambda name: _get(session, urljoin(folder, name), policy), rules
        )
    return _in_folder(Path(where), product, rules)


def _in_folder(base: Path, product: str, rules: RedistribRules) -> Redistrib:
    if not base.is_dir():
        raise UsageError(f"{base} is not a folder", hint="give a folder in NVIDIA's layout, or an address")
    # NVIDIA's layout as a mirror has it, or the files of each product right in its folder.
    local = next(filter(Path.is_dir, (base / product / "redist", base / product)), None)
    found = [path.name for path in local.iterdir()] if local else []
    local = local or base / product
    labels = redistrib_labels(product, found, rules)
    return Redistrib(product, f"{local}/", labels, lambda name: (local / name).read_bytes(), rules)


def _parse(data: bytes, where: str) -> Mapping[str, object]:
    try:
        document = json.loads(data)
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise UsageError(f"{where} is not a JSON object")
    return document


def _get(session: requests.Session, url: str, policy: Policy) -> bytes:
    with answering(redacted(url)):
        response = session.get(url, timeout=(policy.connect, policy.read))
        response.raise_for_status()
        return response.content
