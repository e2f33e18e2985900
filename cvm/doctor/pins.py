"""What the package of a consumer asks for: its `Requires-Dist` lines, for the Python and processor of the case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.core.packages import Distribution
    from cvm.doctor.case import Case

_VARIANT = re.compile(r"-cu\d+$")
# Without a variant since CUDA 13. NVIDIA has pure Python packages too, such as nvidia-ml-py.
_LIBRARY = re.compile(r"nvidia-(?:cu|nccl|npp|nv(?:comp|fatbin|jitlink|jpeg|shmem|tx|vm))")


def requirements(case: Case, distribution: Distribution | None) -> dict[str, Requirement]:
    """Return the requirements that hold here, by normalized name; those of an extra are nobody's by default."""
    if distribution is None:
        return {}
    values = _marker_values(case)
    found: dict[str, Requirement] = {}
    for line in distribution.requires:
        requirement = _parsed(line)
        if requirement is not None and _holds(requirement, values):
            found.setdefault(canonicalize_name(requirement.name), requirement)
    return found


def pinned(requirement: Requirement) -> str | None:
    """Return the one version that a requirement lets in, None where it lets in several."""
    versions = [one.version for one in requirement.specifier if one.operator in ("==", "===")]
    return versions[0] if len(versions) == 1 and not versions[0].endswith("*") else None


def fits(requirement: Requirement, version: str) -> bool:
    """Whether a version is one that a requirement lets in; so is one that can't be read."""
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True


def library_name(name: str) -> str:
    """Return a package's name without its CUDA variant: one for nvidia-nccl-cu11, -cu12 and -cu13."""
    return _VARIANT.sub("", name)


def is_variant(name: str) -> bool:
    """Whether a package's name ends in a CUDA variant."""
    return _VARIANT.search(name) is not None


def is_library(name: str) -> bool:
    """Whether a package brings CUDA libraries, by its name."""
    return is_variant(name) or _LIBRARY.match(name) is not None


def _parsed(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def _holds(requirement: Requirement, values: Mapping[str, str]) -> bool:
    if requirement.marker is None:
        return True
    try:
        return requirement.marker.evaluate(dict(values))
    except (UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
        return False


def _marker_values(case: Case) -> dict[str, str]:
    """Return the values of https://packaging.python.org/en/latest/specifications/dependency-specifiers/ for a case."""
    version = ".".join(map(str, case.python.version if case.python else (3, 10)))
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{version}.0",
        "os_name": "posix",
        "platform_machine": _processor(case),
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{version}.0",
        "python_version": version,
        "sys_platform": "linux",
        "extra": "",
    }


def _processor(case: Case) -> str:
    """Tell the processor by the loader, which is in every process that a consumer was loaded in."""
    loaded = (one.path for consumer in case.consumers for one in consumer.load.loaded)
    return "aarch64" if any("ld-linux-aarch64" in path for path in loaded) else "x86_64"
