"""Which checks there are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.doctor.case import Case
    from cvm.doctor.finding import Finding

# Modules of `cvm.doctor.checks`, in the order of their first code.
NAMES = (
    "missing_library",  # CVM001
    "shadowed",
    "nvjitlink",
    "cudnn_older",
    "cudnn_split",
    "cudnn_engine",
    "family_skew",
    "other_major",
    "bare_name",
    "nccl",  # CVM010
    "extension_abi",
    "other_symbol",
    "damaged",
    "preload",
    "clobbered",  # CVM020
    "split_site",
    "user_site",
    "companions",
    "stub_libcuda",
    "libcuda",
    "path_elements",
    "cpu_only",
    "requirement",  # CVM029
)


class Check(Protocol):
    """A module of a check: its codes with their titles, and the function that judges."""

    CODES: Mapping[str, str]

    def check(self, case: Case) -> Iterator[Finding]:
        """Look at a case and yield what is wrong."""


def checks() -> tuple[Check, ...]:
    """Return the checks, in the order of their codes."""
    return tuple(import_module(f"cvm.doctor.checks.{name}") for name in NAMES)


def titles() -> dict[str, str]:
    """Return every code with its title."""
    return {code: title for one in checks() for code, title in one.CODES.items()}
