"""The settings that come from the environment: where servers are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# https://developer.download.nvidia.com/compute/<product>/redist/: NVIDIA's scheme for all products.
REDIST_URL = "https://developer.download.nvidia.com/compute/"


@dataclass(frozen=True, slots=True)
class Settings:
    """`redist_url` ends in a slash; `environment` is what the index and HTTP clients read further settings from."""

    redist_url: str = REDIST_URL
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read CVM_REDIST_URL, the address of a mirror in NVIDIA's layout; raises UsageError when it is none."""
        url = environment.get("CVM_REDIST_URL") or REDIST_URL
        if not url.startswith(("http://", "https://", "file:///")):
            raise UsageError(f"CVM_REDIST_URL is {url}, not an address", hint=f"write it like {REDIST_URL}")
        return cls(url if url.endswith("/") else url + "/", environment)
