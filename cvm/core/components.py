"""Choosing the archives of one release: one source, one platform, the components of a profile."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from cvm.core.manifest import ANY_PLATFORM, Archive, Component, Manifest
from cvm.core.plan import PlannedArchive, PlannedRelease
from cvm.core.version import parse_version
from cvm.errors import NoMatchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cvm.core.profile import Profiles
    from cvm.core.resolve import Choices

# The toolkit: its version is the release's, and `components` of a person's choices are its.
_TOOLKIT = "cuda"


def choose_archives(
    manifest: Manifest, variant: str, profiles: Profiles, choices: Choices, exact: str = ""
) -> PlannedRelease:
    """Choose the archives of a release from the first source that has any.

    `variant` is a companion's (`cuda12`), empty for a toolkit; `exact` a full version (8.9.4.25)
    that the archives must have. Raises NoMatchError when nothing is left, or a component is unknown.
    """
    wanted = _components(manifest, profiles, choices)
    for source in choices.sources:
        planned = _from_source(manifest, wanted, source, variant, choices.platform, exact)
        if planned:
            full = str(manifest.version) if manifest.product == _TOOLKIT else planned[0].version
            lacks = _lacks(wanted, planned, source, choices.platform)
            return PlannedRelease(manifest.product, manifest.version, full, source, planned, lacks)
    named = exact or str(manifest.version)
    raise NoMatchError(
        f"{manifest.product} {named} has no archive for {choices.platform}"
        f"{' and ' + variant if variant else ''} from {' or '.join(choices.sources)}",
        hint=f"cvm list-remote {manifest.product}",
    )


def _components(manifest: Manifest, profiles: Profiles, choices: Choices) -> tuple[Component, ...]:
    if not choices.components or manifest.product != _TOOLKIT:
        return tuple(c for c in manifest.components if profiles.includes(choices.profile, c.key))
    known = {c.key: c for c in manifest.components if any(_serves(a, choices.platform) for a in c.archives)}
    unknown = [key for key in choices.components if key not in known]
    if unknown:
        near = [key for key in known if key.endswith(unknown[0])] or get_close_matches(unknown[0], known, n=1)
        raise NoMatchError(
            f"{manifest.product} {manifest.version} has no component `{unknown[0]}` for {choices.platform}; "
            f"it has {', '.join(sorted(known))}",
            hint=f"--component {near[0]}" if near else None,
        )
    return tuple(known[key] for key in dict.fromkeys(choices.components))


def _from_source(
    manifest: Manifest, components: Sequence[Component], source: str, variant: str, platform: str, exact: str
) -> tuple[PlannedArchive, ...]:
    planned = []
    for component in components:
        fitting = [
            archive
            for archive in component.archives
            if archive.source == source
            and _serves(archive, platform)
            and (not variant or not archive.cuda_variants or variant in archive.cuda_variants)
            and exact in ("", archive.version or component.version)
        ]
        if fitting:
            archive = max(fitting, key=lambda item: parse_version(item.version or component.version))
            planned.append(
                PlannedArchive(
                    manifest.product,
                    component.key,
                    archive.version or component.version,
                    component.license,
                    archive,
                    component.name,
                )
            )
    return tuple(planned)


def _lacks(
    wanted: Iterable[Component],
    planned: Sequence[PlannedArchive],
    source: str,
    platform: str,
) -> tuple[str, ...]:
    chosen = {item.component for item in planned}
    missing = [
        component.key
        for component in wanted
        if component.key not in chosen
        and any(archive.source != source and _serves(archive, platform) for archive in component.archives)
    ]
    measured = [part for item in planned for part in item.archive.lacks]
    return tuple(dict.fromkeys([*measured, *missing]))


def _serves(archive: Archive, platform: str) -> bool:
    return archive.platform in (platform, ANY_PLATFORM)
