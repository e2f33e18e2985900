"""Folders that programs look for under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.prefix.repairs.edit import make_link

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts


def lib64_link(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`lib64`: nvcc 13.0 and PyTorch's extension builder link from there, archives have `lib`."""
    return _links(prefix, (("lib64", "lib"),))


def targets_links(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """`targets/<triple>`: nvcc and CMake look there. Never an empty one: nvcc then looks nowhere else."""
    folder = f"targets/{facts.triple}"
    return _links(prefix, ((f"{folder}/include", "../../include"), (f"{folder}/lib", "../../lib")))


def cupti_folders(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`extras/CUPTI`: where the installer puts it, and where profilers of frameworks look."""
    if not (prefix / "include/cupti.h").is_file():
        return ()
    return _links(prefix, (("extras/CUPTI/include", "../../include"), ("extras/CUPTI/lib64", "../../lib")))


def pkg_config_links(prefix: Path, _facts: PrefixFacts) -> tuple[str, ...]:
    """`pkg-config` and `pkgconfig`: the names of the archives and of the installer for `lib/pkgconfig`."""
    return _links(prefix, (("pkg-config", "lib/pkgconfig"), ("pkgconfig", "lib/pkgconfig")))


def _links(prefix: Path, links: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Make those of the links that lead to a folder."""
    made = []
    for path, target in links:
        if (prefix / target.lstrip("./")).is_dir() and make_link(prefix, path, target):
            made.append(f"{path} -> {target}")
    return tuple(made)
