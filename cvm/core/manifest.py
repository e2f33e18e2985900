"""A manifest: what one release of a product consists of, and where its archives are.

The TOML of a manifest, one release a file, `manifests/<product>/<version>.toml`:

    schema = 1
    product = "cuda"
    version = "12.1.1"
    date = "2023-04-19"                     # optional

    [components.cuda_nvcc]
    name = "CUDA NVCC"
    version = "12.1.105"
    license = "CUDA Toolkit"
    license_path = "cuda_nvcc/LICENSE.txt"  # optional, relative to <redist URL>/<product>/redist/
    archives = [
      { source = "redist", platform = "linux-x86_64", path = "…", size = 1, sha256 = "…" },
      { source = "pypi", platform = "linux-x86_64", path = "….whl", size = 1, sha256 = "…", unpacked = 3 },
    ]

Optional keys of an archive: `version` where it differs from the component's, `cuda_variants` for
a companion's (`["cuda12"]`), `unpacked` (exact bytes on disk), `lacks` (what a person would miss).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cvm.core.platform import PLATFORMS
from cvm.core.version import Version, parse_version
from cvm.errors import UsageError

SCHEMA = 1
SOURCES = ("redist", "pypi", "runfile", "file")
ANY_PLATFORM = "any"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_VARIANT = re.compile(r"cuda[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Archive:
    """One downloadable file.

    `path` is relative to `<redist URL>/<product>/redist/` or a whole URL (source `redist`), the
    name of a wheel (`pypi`), or a path on this machine (`file`). Sizes are in bytes.
    """

    source: str
    platform: str
    path: str
    sha256: str
    size: int
    version: str = ""
    cuda_variants: tuple[str, ...] = ()
    unpacked: int | None = None
    lacks: tuple[str, ...] = ()

    @property
    def filename(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a release as NVIDIA names it, such as `cuda_nvcc` or `libcublas`."""

    key: str
    version: str
    name: str = ""
    license: str = ""
    license_path: str = ""
    archives: tuple[Archive, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """One release of a product."""

    product: str
    version: Version
    date: str = ""
    components: tuple[Component, ...] = field(default=())

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that hold any archive of this release."""
        found = {archive.source for component in self.components for archive in component.archives}
        return tuple(source for source in SOURCES if source in found)


def parse_manifest(document: Mapping[str, Any], where: str) -> Manifest:
    """Read a manifest from parsed TOML; raises UsageError with all faults of the file, which `where` names."""
    faults: list[str] = []
    if document.get("schema") != SCHEMA:
        faults.append(f"schema is {document.get('schema')!r}, not {SCHEMA}")
    product = _text(document, "product", faults, "")
    components = tuple(
        _component(str(key), table, faults) for key, table in _table(document, "components", faults).items()
    )
    version = _version(document, faults)
    if faults:
        raise UsageError(f"{where} is not a manifest: {'; '.join(faults)}")
    return Manifest(product, version, str(document.get("date", "")), components)


def _version(document: Mapping[str, Any], faults: list[str]) -> Version:
    text = _text(document, "version", faults, "")
    try:
        return parse_version(text)
    except UsageError as error:
        faults.append(error.message)
        return Version("0")


def _component(key: str, table: object, faults: list[str]) -> Component:
    if not isinstance(table, Mapping) or not _KEY.fullmatch(key):
        faults.append(f"component `{key}` is not a table with a plain name")
        return Component(key, "")
    archives = table.get("archives", [])
    if not isinstance(archives, list):
        faults.append(f"{key}: archives is not a list")
        archives = []
    return Component(
        key,
        _text(table, "version", faults, key),
        str(table.get("name", "")),
        str(table.get("license", "")),
        str(table.get("license_path", "")),
        tuple(_archive(key, item, faults) for item in archives),
    )


def _archive(key: str, table: object, faults: list[str]) -> Archive:
    if not isinstance(table, Mapping):
        faults.append(f"{key}: an archive is not a table")
        return Archive("", "", "", "", 0)
    archive = Archive(
        source=_text(table, "source", faults, key),
        platform=_text(table, "platform", faults, key),
        path=_text(table, "path", faults, key),
        sha256=_text(table, "sha256", faults, key),
        size=_integer(table, "size", faults, key) or 0,
        version=str(table.get("version", "")),
        cuda_variants=_texts(table, "cuda_variants", faults, key),
        unpacked=_integer(table, "unpacked", faults, key) if "unpacked" in table else None,
        lacks=_texts(table, "lacks", faults, key),
    )
    faults.extend(f"{key}: {fault}" for fault in _archive_faults(archive))
    return archive


def _archive_faults(archive: Archive) -> list[str]:
    faults = []
    if archive.source not in SOURCES:
        faults.append(f"source `{archive.source}` is not one of {', '.join(SOURCES)}")
    if archive.platform not in (*PLATFORMS, ANY_PLATFORM):
        faults.append(f"platform `{archive.platform}` is not known")
    if not _SHA256.fullmatch(archive.sha256):
        faults.append(f"sha256 `{archive.sha256}` is not 64 lower-case hex digits")
    faults.extend(f"`{v}` is not a cuda variant" for v in archive.cuda_variants if not _VARIANT.fullmatch(v))
    return faults


def _text(table: Mapping[str, Any], key: str, faults: list[str], where: str) -> str:
    value = table.get(key)
    if isinstance(value, str) and value:
        return value
    faults.append(f"{where + ': ' if where else ''}{key} is missing or empty")
    return ""


def _texts(table: Mapping[str, Any], key: str, faults: list[str], where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list):
        return tuple(map(str, value))
    faults.append(f"{where}: {key} is not a list")
    return ()


def _integer(table: Mapping[str, Any], key: str, faults: list[str], where: str) -> int | None:
    value = table.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    faults.append(f"{where}: {key} is not a number of bytes")
    return None


def _table(document: Mapping[str, Any], key: str, faults: list[str]) -> Mapping[str, Any]:
    value = document.get(key)
    if isinstance(value, Mapping) and value:
        return value
    faults.append(f"{key} is missing or empty")
    return {}
