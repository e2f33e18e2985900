"""`manifests/compat/cudnn.toml`: which build of each cuDNN serves which CUDA, and who says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cvm.core.compat import ANY_MINOR
from cvm.core.manifest import SCHEMA
from cvm.core.toml_text import TomlValue, toml_key, toml_value
from cvm.core.version import Version, parse_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cvm.core.manifest import Manifest

DERIVED = "cuda_variant"
_SOURCES = {
    DERIVED: {
        "what": "the CUDA variant that NVIDIA names the archive or wheel of this release for",
        "where": "manifests/cudnn",
    }
}
_CUDNN = "developer.download.nvidia.com/compute/cudnn/redist/"
_PLACES = {
    "cudnn_redist_pages": _CUDNN,
    "pypi_cudnn": "the package index, projects nvidia-cudnn-cu11, -cu12 and -cu13",
    "redist_archives_tsv": "recipes of spack, conda-forge and EasyBuild",
    "redist_manifests": _CUDNN,
}
_HEAD = """\
# Which build of a cuDNN release serves which CUDA Toolkit, for programs that link it dynamically.
# `rule` decides; the minors annotate it: those that NVIDIA printed are `documented`, the others `inferred` from dates.
"""


def compat_text(table: Mapping[str, Any]) -> str:
    """Write the table as TOML: releases in order, one build a line, then the sources that are named."""
    releases = sorted(table["releases"], key=lambda row: parse_version(row["version"]))
    used = {source for row in releases for build in row["builds"] for source in build["sources"]}
    sources = {key: item for key, item in table["sources"].items() if key in used}
    parts = [f"{_HEAD}schema = {SCHEMA}\nproduct = {toml_value('cudnn')}\n", *map(_release_text, releases)]
    parts += [_table_text(f"sources.{toml_key(key)}", sources[key]) for key in sorted(sources)]
    return "\n".join(parts)


def table_from_facts(facts: Mapping[str, Any], releases: Iterable[Manifest]) -> Mapping[str, Any]:
    """Read a table of facts about cuDNN builds, and add the releases that it does not have."""
    rows = [_row(item) for item in facts["releases"]]
    sources = {key: _source(key, item) for key, item in facts["sources"].items()}
    return with_releases({"releases": rows, "sources": sources}, releases)


def with_releases(table: Mapping[str, Any], releases: Iterable[Manifest]) -> Mapping[str, Any]:
    """Add a build for each variant that a manifest has and the table has not."""
    rows: dict[Version, dict[str, Any]] = {parse_version(row["version"]): dict(row) for row in table["releases"]}
    for manifest in releases:
        row = rows.setdefault(manifest.version, {"version": str(manifest.version), "builds": []})
        known = {build["variant"] for build in row["builds"]}
        added = [_derived(variant, version) for variant, version in _variants(manifest) if variant not in known]
        row["builds"] = [*row["builds"], *added]
    return {"releases": list(rows.values()), "sources": {**_SOURCES, **table["sources"]}}


def _source(key: str, item: Mapping[str, str]) -> dict[str, str]:
    """Say where a source is, in words that lead a reader there; notes about stored copies lead nobody."""
    where = _PLACES.get(key, re.sub(r" *\(?\bstored copy\b[^)]*\)?", "", item["where"]))
    return {"what": item["what"], "where": where} if where else {"what": item["what"]}


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"version": item["cudnn"], "builds": [_build(build) for build in item["builds"]]}


def _build(build: Mapping[str, Any]) -> dict[str, TomlValue]:
    facts = {
        "variant": f"cuda{build['variant']}",
        "version": build["full_version"],
        "rule": build["rule"],
        "documented_minors": build["documented_minors"],
        "inferred_minors": build["inferred_minors"],
        "min_driver": build["min_driver_linux"],
        "sources": build["src"],
    }
    return {key: value for key, value in facts.items() if value is not None}


def _derived(variant: str, version: str) -> dict[str, TomlValue]:
    return {"variant": variant, "version": version, "rule": ANY_MINOR, "sources": [DERIVED]}


def _variants(manifest: Manifest) -> list[tuple[str, str]]:
    found = {
        variant: archive.version or component.version
        for component in manifest.components
        if component.key == manifest.product
        for archive in component.archives
        for variant in archive.cuda_variants
    }
    return sorted(found.items())


def _release_text(row: Mapping[str, Any]) -> str:
    builds = "".join(f"  {toml_value(build)},\n" for build in row["builds"])
    return f"[[releases]]\nversion = {toml_value(row['version'])}\nbuilds = [\n{builds}]\n"


def _table_text(name: str, table: Mapping[str, str]) -> str:
    return f"[{name}]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in table.items())
