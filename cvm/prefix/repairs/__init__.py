"""What NVIDIA's installer does to a toolkit, and its archives leave undone: one small named step each.

A step takes the prefix and the facts and says in a few words what it did; a second run does nothing.
A file that a step changes becomes a new file: the store's own is never written to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.prefix.repairs.folders import (
    cupti_folders,
    lib64_link,
    pkg_config_links,
    targets_links,
)
from cvm.prefix.repairs.gaps import missing_parts
from cvm.prefix.repairs.libraries import cudnn_exact_links, development_links, nvvm_links
from cvm.prefix.repairs.pkgconfig import pc_files, pc_roots, pc_unversioned_links
from cvm.prefix.repairs.stubs import driver_stub, nvml_stub
from cvm.prefix.repairs.tools import nsight_templates, nvcc_profile, tool_wrappers
from cvm.prefix.repairs.versions import eula_link, version_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cvm.prefix.parts import PrefixFacts

    Repair = Callable[[Path, PrefixFacts], tuple[str, ...]]

# In order: links to folders first, for later steps look through them; the notes last.
REPAIRS: tuple[Repair, ...] = (
    lib64_link,
    targets_links,
    development_links,
    cudnn_exact_links,
    nvvm_links,
    cupti_folders,
    driver_stub,
    nvml_stub,
    tool_wrappers,
    nsight_templates,
    nvcc_profile,
    pc_roots,
    pc_files,
    pc_unversioned_links,
    pkg_config_links,
    version_json,
    eula_link,
    missing_parts,
)


def repair(prefix: Path, facts: PrefixFacts) -> tuple[str, ...]:
    """Run every step and return what each did, as `step: what`."""
    return tuple(f"{step.__name__.replace('_', '-')}: {what}" for step in REPAIRS for what in step(prefix, facts))
