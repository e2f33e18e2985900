"""NVIDIA's archives made again of NVIDIA's wheels: the same files, in the layout that its download server has."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from packaging.utils import parse_wheel_filename

from cvm.catalog import read_toml
from cvm.core.manifest import parse_manifest
from cvm.resources import resource
from tests.fakes.redist import members_of_wheel
from tests.real.home import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cvm.core.manifest import Archive, Component
    from tests.fakes.toolkit import Members


@dataclass(frozen=True)
class Wheel:
    """A component as a wheel on disk; `toolkit` is the CUDA release that it is for."""

    component: str
    version: str
    path: Path
    toolkit: str

    def members(self) -> Members:
        """Lay the files out as in NVIDIA's archive of the component."""
        return members_of_wheel(self.path, self.component, self.version, self.toolkit)


def download(
    product: str, release: str, components: tuple[str, ...], toolkit: str, folder: Path, environment: Mapping[str, str]
) -> dict[str, Wheel]:
    """Download the wheels that a shipped manifest names, by pip, which checks the hashes too."""
    path = resource("manifests") / product / f"{release}.toml"
    manifest = parse_manifest(read_toml(path), str(path))
    chosen = {item.key: (item, _wheel(item, toolkit)) for item in manifest.components if item.key in components}
    requirements = folder / f"{product}-{release}.txt"
    requirements.write_text("".join(_requirement(archive) for _, archive in chosen.values()))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    run([*command, "--dest", str(folder), "-r", str(requirements)], environment, folder)
    return {
        key: Wheel(key, item.version, folder / archive.filename, toolkit) for key, (item, archive) in chosen.items()
    }


def as_archive_of_13(component: str, members: Members) -> Members:
    """Undo what wheels of CUDA 13 lay out otherwise than the archives: libnvvm keeps its own folder there."""
    if component != "libnvvm":
        return members
    moved = {"lib/": "nvvm/lib64/", "include/": "nvvm/include/"}
    return {_moved(path, moved): member for path, member in members.items()}


def _moved(path: str, folders: Mapping[str, str]) -> str:
    for old, new in folders.items():
        if path.startswith(old):
            return new + path.removeprefix(old)
    return path


def _wheel(component: Component, toolkit: str) -> Archive:
    variant = f"cuda{toolkit.split('.', maxsplit=1)[0]}"
    for archive in component.archives:
        fits = not archive.cuda_variants or variant in archive.cuda_variants
        if (archive.source, archive.platform) == ("pypi", "linux-x86_64") and fits:
            return archive
    pytest.fail(f"the manifest has no wheel of {component.key} for {variant}")


def _requirement(archive: Archive) -> str:
    name, version, *_ = parse_wheel_filename(archive.filename)
    return f"{name}=={version} --hash=sha256:{archive.sha256}\n"
