"""What can be installed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cvm.core.resolve import Choices, Release, World, companion_version
from cvm.core.version import Pattern, Version, matching
from cvm.errors import IncompatibleError, NoMatchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cvm.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Remote:
    """One release: its sources on this platform, its cuda variants, and for a toolkit the newest cuDNN for it."""

    version: Version
    sources: tuple[str, ...]
    variants: tuple[str, ...] = ()
    cudnn: Version | None = None


def remote_releases(product: str, pattern: Pattern | None, catalog: Catalog, choices: Choices) -> tuple[Remote, ...]:
    """List the releases of a product for a platform, in ascending order; raises NoMatchError."""
    world = catalog.world()
    releases = [r for r in catalog.releases(product) if r.offered(choices.platform, choices.sources)]
    if not releases:
        raise NoMatchError(f"there is no {product} release for {choices.platform}")
    chosen = [r for r in releases if pattern is None or r.version in _listed(pattern, releases)]
    if not chosen and pattern is not None:
        raise NoMatchError(f"no {product} release matches `{pattern.text}`", hint=f"cvm list-remote {product}")
    return tuple(_remote(product, release, world, choices) for release in chosen)


def _listed(pattern: Pattern, releases: Sequence[Release]) -> list[Version]:
    found = matching(pattern, [release.version for release in releases])
    return found[:1] if pattern.is_newest else found


def _remote(product: str, release: Release, world: World, choices: Choices) -> Remote:
    sources = tuple(s for s in choices.sources if release.offered(choices.platform, (s,)))
    variants = tuple(sorted({v for s in sources for v in release.variants.get(s, ())}))
    remote = Remote(release.version, sources, variants)
    if product != "cuda":
        return remote
    try:
        _, cudnn, _ = companion_version("cudnn", Pattern("auto"), release.version, world, choices)
    except (IncompatibleError, NoMatchError):
        return remote
    return replace(remote, cudnn=cudnn)
