"""Exact versions, and the patterns that people type for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from cvm.core.names import AUTO, LATEST
from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Pattern", "Version", "matching", "nearest", "parse_version"]


def parse_version(text: str) -> Version:
    """Read an exact version such as ``12.1.1``, ``8.9.4.25`` or ``12.4.127.post1``.

    Raises UsageError when the text is not a version.
    """
    try:
        return Version(text)
    except InvalidVersion:
        raise UsageError(f"`{text}` is not a version", hint="write it as 12.1 or 12.1.1") from None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A partial version: ``12.1`` stands for every 12.1.x and, part by part, never for 12.10."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read ``latest``, ``auto`` or a dotted version; raises UsageError for anything else."""
        # Spelled as versions are, since `v8.9.4.25` is compared with the text of one.
        return cls(text if text in (LATEST, AUTO) else str(parse_version(text)))

    @property
    def is_newest(self) -> bool:
        """Whether any version will do, the newest first."""
        return self.text in (LATEST, AUTO)

    def matches(self, version: Version) -> bool:
        """Whether an exact version fits.

        A pre-release, and a site's own version with a label (`12.1.1+lab`), fit only when they are named in full.
        More parts than a version has fit none: the links in `resolved/` could never list every `12.1.0.0.…`.
        """
        special = version.is_prerelease or version.local is not None
        if self.is_newest:
            return not special
        wanted = Version(self.text)
        if special or wanted.is_prerelease or wanted.is_postrelease or wanted.local:
            return str(wanted) == str(version)
        return version.release[: len(wanted.release)] == wanted.release


def matching(pattern: Pattern, versions: Iterable[Version]) -> list[Version]:
    """Return the versions that fit a pattern, newest first."""
    return sorted((v for v in versions if pattern.matches(v)), reverse=True)


def nearest(pattern: Pattern, versions: Iterable[Version], count: int = 3) -> list[Version]:
    """Return the versions a person may have meant, for an error message, in ascending order."""
    wanted = Version("0") if pattern.is_newest else Version(pattern.text)
    ordered = sorted(versions, key=lambda version: _distance(wanted, version))
    return sorted(ordered[:count])


def _distance(wanted: Version, version: Version) -> tuple[int, ...]:
    width = max(len(wanted.release), len(version.release))

    def pad(release: tuple[int, ...]) -> tuple[int, ...]:
        return release + (0,) * (width - len(release))

    return tuple(abs(a - b) for a, b in zip(pad(wanted.release), pad(version.release), strict=True))
