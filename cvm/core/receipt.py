"""A receipt: what cvm records about an install, and needs to know of it later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from cvm.core.version import parse_version
from cvm.errors import UsageError

SCHEMA = 1

INSTALLED = "installed"
LINKED = "linked"
COPIED = "copied"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class InstalledComponent:
    """One archive of an install; `filename`, `sha256` and `size` (bytes) are the archive's."""

    product: str
    component: str
    version: str
    source: str = ""
    filename: str = ""
    sha256: str = ""
    size: int = 0
    license: str = ""


@dataclass(frozen=True, slots=True)
class License:
    """A licence that the person was shown before the download."""

    name: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One toolchain.

    `kind` is `installed`, `linked` (another's tree at `path`) or `copied` (a copy of such a tree).
    `companions` holds (product, full version); `repairs` what was done beyond copying, as
    `step: what`; `created` is ISO 8601.
    """

    name: str
    kind: str
    toolkit: str
    companions: tuple[tuple[str, str], ...] = ()
    platform: str = ""
    profile: str = ""
    components: tuple[InstalledComponent, ...] = ()
    licenses: tuple[License, ...] = ()
    repairs: tuple[str, ...] = ()
    path: str = ""
    created: str = ""
    cvm: str = ""


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """Turn a receipt into what stands in its JSON file."""
    return {"schema": SCHEMA, **asdict(receipt), "companions": dict(receipt.companions)}


def parse_receipt(document: object) -> Receipt | None:
    """Read a receipt from parsed JSON; None for what is none, or of a later schema.

    Keys that this version does not know are ignored.
    """
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        return None
    try:
        companions = document.get("companions", {}).items()
        receipt = _built(
            Receipt,
            document,
            companions=tuple((str(product), str(version)) for product, version in companions),
            components=_each(InstalledComponent, document.get("components", ())),
            licenses=_each(License, document.get("licenses", ())),
            repairs=tuple(map(str, document.get("repairs", ()))),
        )
        for text in (receipt.toolkit, *(version for _, version in receipt.companions)):
            parse_version(text)
    except (AttributeError, TypeError, UsageError):
        return None
    return receipt


def _each(kind: type[_T], rows: Sequence[Mapping[str, Any]]) -> tuple[_T, ...]:
    return tuple(_built(kind, row) for row in rows)


def _built(kind: type[_T], row: Mapping[str, Any], **parsed: object) -> _T:
    """Build a value from the keys that it has; raises TypeError when one is missing or of another type."""
    known: dict[str, Any] = {}
    for item in fields(kind):  # type: ignore[arg-type]
        if item.name in parsed:
            known[item.name] = parsed[item.name]
        elif item.name in row:
            wanted = int if item.type == "int" else str
            if not isinstance(row[item.name], wanted):
                raise TypeError(item.name)
            known[item.name] = row[item.name]
    return kind(**known)
