"""NVIDIA's redistrib manifests, JSON of several shapes, read into our own.

A component has an object for each platform: flat (`relative_path`, `sha256`, `size`), or one such
object for each CUDA variant, or both at once (cuDNN 9.27.0, windows-arm64). Sizes are strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from cvm.core.manifest import ANY_PLATFORM, Archive, Component, Manifest
from cvm.core.platform import PLATFORMS
from cvm.core.version import Version, parse_version
from cvm.errors import UsageError

# `source` and `linux-all` serve every platform; a platform that cvm does not know is left out.
_PLATFORMS = {**{key: key for key in PLATFORMS}, "source": ANY_PLATFORM, "linux-all": ANY_PLATFORM}
_FILE = re.compile(r"redistrib_([0-9]+(?:\.[0-9]+)*)\.json")
_VARIANT = re.compile(r"cuda[1-9][0-9]*")
_VARIANT_IN_NAME = re.compile(r"_(cuda[1-9][0-9]*)(?:\.[0-9]+)?-archive")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RedistribRules:
    """What NVIDIA's files leave unsaid: `manifests/redistrib.toml`, parsed."""

    left_out: tuple[str, ...] = ()
    label_parts: Mapping[str, int] = field(default_factory=dict)
    variants: Mapping[str, Mapping[Version, tuple[str, ...]]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def leaves_out(self, component: str) -> bool:
        """Whether a component is not for a prefix: the driver and what goes with it."""
        return any(fnmatchcase(component, pattern) for pattern in self.left_out)

    def release(self, product: str, label: str) -> Version:
        """Name the release that a label stands for: cuDNN 8.9.4.25 is a build of 8.9.4."""
        parts = self.label_parts.get(product)
        return parse_version(".".join(label.split(".")[:parts]))

    def variants_of(self, product: str, release: Version) -> tuple[str, ...]:
        """Return the CUDA variants inside one flat archive of a companion."""
        known = self.variants.get(product, {})
        first = max((version for version in known if version <= release), default=None)
        return () if first is None else known[first]


def parse_redistrib_rules(document: Mapping[str, Any]) -> RedistribRules:
    """Read `manifests/redistrib.toml`."""
    return RedistribRules(
        tuple(document["left_out"]),
        document["label_parts"],
        {
            product: {parse_version(version): tuple(variants) for version, variants in table.items()}
            for product, table in document["variants"].items()
        },
        document["renamed"],
    )


def redistrib_labels(product: str, filenames: Iterable[str], rules: RedistribRules) -> tuple[str, ...]:
    """Choose the files to read, by label: one for each release, the one named for the release itself first."""
    labels = [match[1] for match in map(_FILE.fullmatch, filenames) if match]
    chosen: dict[Version, str] = {}
    for label in sorted(set(labels), key=lambda text: (-len(text.split(".")), parse_version(text))):
        chosen[rules.release(product, label)] = label
    return tuple(chosen[release] for release in sorted(chosen))


def read_redistrib(
    document: Mapping[str, Any], product: str, label: str, where: str, rules: RedistribRules
) -> Manifest:
    """Read one of NVIDIA's files; `label` comes from its name, for files before CUDA 12.2 do not say it.

    Raises UsageError that names the file and every key at fault.
    """
    faults: list[str] = []
    release = rules.release(product, label)
    components = [
        _component(rules.renamed.get(key, key), table, rules.variants_of(product, release), faults)
        for key, table in document.items()
        if isinstance(table, Mapping) and not rules.leaves_out(key)
    ]
    kept = tuple(sorted((item for item in components if item.archives), key=lambda item: item.key))
    if not kept and not faults:
        faults.append("it has no component with an archive")
    if faults:
        raise UsageError(f"{where} is not a redistrib manifest: {'; '.join(faults)}")
    return Manifest(product, release, str(document.get("release_date", "")), kept)


def _component(key: str, table: Mapping[str, Any], inside: Sequence[str], faults: list[str]) -> Component:
    variants = _declared(table) or tuple(inside)
    archives = [
        archive
        for platform, item in table.items()
        if platform in _PLATFORMS
        for archive in _platform(f"{key}.{platform}", item, _PLATFORMS[platform], variants, faults)
    ]
    version = table.get("version")
    if not isinstance(version, str) or not version:
        faults.append(f"{key}.version is missing")
    return Component(
        key,
        str(version),
        str(table.get("name", "")),
        str(table.get("license", "")),
        str(table.get("license_path", "")),
        tuple(archives),
    )


def _declared(table: Mapping[str, Any]) -> tuple[str, ...]:
    declared = table.get("cuda_variant", ())
    return tuple(f"cuda{item}" for item in declared) if isinstance(declared, list) else ()


def _platform(where: str, item: object, platform: str, variants: Sequence[str], faults: list[str]) -> Iterator[Archive]:
    if not isinstance(item, Mapping):
        faults.append(f"{where} is not an object")
        return
    nested = {key: leaf for key, leaf in item.items() if _VARIANT.fullmatch(key)}
    for variant, leaf in nested.items():
        yield from _archive(f"{where}.{variant}", leaf, platform, (variant,), faults)
    # Beside nested ones a flat archive is a special build (`_cuda13.4`) that serves less than they do.
    if not nested:
        yield from _archive(where, item, platform, tuple(variants), faults)


def _archive(
    where: str, leaf: object, platform: str, variants: tuple[str, ...], faults: list[str]
) -> Iterator[Archive]:
    if not isinstance(leaf, Mapping):
        faults.append(f"{where} is not an object")
        return
    path, sha256, size = (str(leaf.get(key, "")) for key in ("relative_path", "sha256", "size"))
    if not path:
        faults.append(f"{where}.relative_path is missing")
    if not _SHA256.fullmatch(sha256):
        faults.append(f"{where}.sha256 `{sha256}` is not 64 lower-case hex digits")
    if not size.isascii() or not size.isdigit() or not int(size):
        faults.append(f"{where}.size `{size}` is not a number of bytes")
        return
    named = _VARIANT_IN_NAME.search(path)
    yield Archive("redist", platform, path, sha256, int(size), cuda_variants=(named[1],) if named else variants)
