"""Releases of one test's own: bigger ones, hostile ones, and such as only a package index has."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from cvm.core.manifest import Archive, Component, Manifest
from cvm.core.manifest_text import manifest_text
from cvm.core.version import Version
from tests.fakes.archives import pseudo_random
from tests.fakes.redist import publish, wheel_bytes
from tests.fakes.server import write_index
from tests.fakes.toolkit import Member, toolkit
from tests.functional.conftest import listing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World

BIG = "99.2.0"
BIG_SIZE = 900_000


def publish_big(world: World, folder: Path) -> str:
    """Publish 99.2.0, whose libcublas takes a while to come; returns the path of that archive on the server."""
    shutil.copytree(world.server.folder, folder)
    components = toolkit(BIG)
    components["libcublas"][1]["lib/libcublas_static.a"] = Member(pseudo_random(BIG_SIZE))
    archives = publish(folder, "cuda", BIG, components).archives
    listing(folder / "compute" / "cuda" / "redist")
    world.server.folder = folder
    world.ok("manifest", "refresh", "cuda")
    world.server.requests.clear()
    return str(archives["libcublas"].relative_to(folder))


def describe(world: World, version: str, *archives: tuple[str, Archive]) -> Path:
    """Write a manifest by hand into the home: a component and its archive each."""
    components = tuple(Component(key, version, key, "CUDA Toolkit", "", (archive,)) for key, archive in archives)
    path = world.home / "manifests" / "cuda" / f"{version}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(manifest_text(Manifest("cuda", Version(version), "2023-04-19", components)))
    return path


def served(world: World, folder: Path, name: str, data: bytes, **changes: object) -> Archive:
    """Put an archive where the server shows it, and say of it what a manifest says."""
    path = folder / "compute" / "cuda" / "redist" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    world.server.folder = folder
    fields = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), **changes}
    return Archive(source="redist", platform="linux-x86_64", path=name, **fields)  # type: ignore[arg-type]


def index_wheels(world: World, folder: Path, version: str, *, lie: str = "") -> str:
    """Put a toolkit's wheels on a package index, describe them, and return its address; `lie` replaces their hashes."""
    archives = []
    for key, (number, members) in toolkit(version).items():
        distribution = f"nvidia_{key}_cu99"
        data = wheel_bytes(distribution, number, members, folder=key)
        name = f"{distribution}-{number}-py3-none-manylinux1_x86_64.whl"
        digest = hashlib.sha256(data).hexdigest()
        (folder / "files").mkdir(parents=True, exist_ok=True)
        (folder / "files" / name).write_bytes(data)
        listed = {"filename": name, "url": f"{world.server.url}/files/{name}", "hashes": {"sha256": lie or digest}}
        write_index(folder / "simple", distribution.replace("_", "-"), [listed])
        archives.append((key, Archive("pypi", "linux-x86_64", name, digest, len(data))))
    world.server.folder = folder
    world.server.content_types["index.json"] = "application/vnd.pypi.simple.v1+json"
    describe(world, version, *archives)
    return f"{world.server.url}/simple/"


def moved(world: World, home: Path) -> World:
    """The same world with its home elsewhere, and with the manifests that are known."""
    if (world.home / "manifests").exists():
        shutil.copytree(world.home / "manifests", home / "manifests")
    world.monkeypatch.setenv("CVM_HOME", str(home))
    return replace(world, home=home)
