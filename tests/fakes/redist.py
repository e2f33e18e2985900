"""NVIDIA's download server on disk: archives, wheels and redistrib JSON in the shapes of the real ones.

`publish` writes a product's release below a folder that a local web server can serve;
`members_of_wheel` turns a real wheel into what NVIDIA's archive of the same component holds.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cvm.core.placement import placement
from cvm.core.version import Version
from tests.fakes.toolkit import Member, Members, cudnn, nccl, text, toolkit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LICENSE = Member(b"License agreement for NVIDIA software\n")
_SONAME = re.compile(r"(lib/lib.+?)\.so\.(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Published:
    """A release below a folder: its manifest, and the archives by component."""

    manifest: Path
    archives: Mapping[str, Path]


def publish(
    root: Path,
    product: str,
    release: str,
    components: Mapping[str, tuple[str, Members]],
    *,
    platform: str = "linux-x86_64",
    variant: str = "",
) -> Published:
    """Write the archives of a release and its redistrib JSON to `root/compute/<product>/redist`."""
    folder = root / "compute" / product / "redist"
    manifest = folder / f"redistrib_{release}.json"
    document: dict[str, Any] = json.loads(manifest.read_text()) if manifest.exists() else {"release_date": "2023-04-19"}
    archives = {}
    for key, (version, members) in components.items():
        name = archive_name(key, platform, version, variant)
        archive = folder / key / platform / name
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(archive_bytes(name, members))
        archives[key] = archive
        described = _described(archive, folder)
        entry = document.setdefault(key, {"name": f"CUDA {key}", "license": "CUDA Toolkit", "version": version})
        if variant:
            entry.setdefault("cuda_variant", []).append(variant.removeprefix("cuda"))
            entry.setdefault(platform, {})[variant] = described
        else:
            entry[platform] = described
    manifest.write_text(json.dumps(document, indent=4))
    return Published(manifest, archives)


def publish_toolkit(root: Path, version: str, platform: str = "linux-x86_64") -> Published:
    """Publish a tiny toolkit."""
    return publish(root, "cuda", version, toolkit(version), platform=platform)


def publish_cudnn(root: Path, full: str, variant: str, platform: str = "linux-x86_64") -> Published:
    """Publish a tiny cuDNN such as 8.9.4.25 for `cuda12`."""
    release = ".".join(full.split(".")[:3])
    return publish(root, "cudnn", release, {"cudnn": (full, cudnn(full))}, platform=platform, variant=variant)


def publish_nccl(root: Path, version: str, variant: str, platform: str = "linux-x86_64") -> Published:
    """Publish a tiny NCCL."""
    return publish(root, "nccl", version, {"nccl": (version, nccl(version))}, platform=platform, variant=variant)


def archive_name(key: str, platform: str, version: str, variant: str = "") -> str:
    """Name an archive the way NVIDIA mostly does."""
    return f"{key}-{platform}-{version}{'_' + variant if variant else ''}-archive.tar.xz"


def archive_bytes(name: str, members: Members, *, preset: int = 0) -> bytes:
    """Pack files below one folder named like the archive, with a LICENSE, the same bytes each time."""
    top = name.removesuffix(".tar.xz")
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:xz", preset=preset) as archive:
        for path, member in sorted({"LICENSE": LICENSE, **members}.items()):
            info = tarfile.TarInfo(f"{top}/{path}")
            info.mode = member.mode
            if member.target:
                info.type, info.linkname = tarfile.SYMTYPE, member.target
            else:
                info.size = len(member.data)
            archive.addfile(info, None if member.target else io.BytesIO(member.data))
    return stream.getvalue()


def wheel_bytes(distribution: str, version: str, members: Members, *, folder: str) -> bytes:
    """Pack files the way NVIDIA's wheels do: below `nvidia/<folder>/`, by soname, without links or exact modes."""
    info = f"{distribution}-{version}.dist-info"
    whole = {
        f"nvidia/{folder}/__init__.py": text(""),
        **{f"nvidia/{folder}/{path}": member for path, member in without_links(members).items()},
        f"{info}/License.txt": LICENSE,
        f"{info}/METADATA": text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"),
    }
    whole[f"{info}/RECORD"] = text("".join(f"{path},,\n" for path in whole))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, member in whole.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o100744 if member.mode & 0o100 and ".so" not in path else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, member.data)
    return stream.getvalue()


def without_links(members: Members) -> Members:
    """Keep of each library the one file, under its soname, as wheels do."""
    sonames = {m.target: path for path, m in members.items() if re.search(r"\.so\.\d+$", path) and m.target}
    kept = {path: member for path, member in members.items() if not member.target and "pkg-config" not in path}
    return {
        sonames.get(path.rsplit("/", 1)[-1], path): member for path, member in kept.items() if "/stubs/" not in path
    }


def members_of_wheel(wheel: Path, component: str, version: str, toolkit: str) -> Members:
    """Lay out a wheel's files as in NVIDIA's archive of that component: libraries get their links back."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        where = placement(component, wheel.name, names, Version(toolkit), "linux-x86_64")
        members: Members = {}
        for name in names:
            path = where.file(name)
            if path is None or path.startswith("share/doc/"):
                continue
            mode = 0o755 if archive.getinfo(name).external_attr >> 16 & 0o100 or "/bin/" in f"/{path}" else 0o644
            members |= _linked(path, Member(archive.read(name), mode), version)
    return members


def _linked(path: str, member: Member, version: str) -> Members:
    match = _SONAME.fullmatch(path)
    if match is None or match[2] == version:
        return {path: member}
    name = match[1].removeprefix("lib/")
    return {
        f"{match[1]}.so": Member(target=f"{name}.so.{match[2]}"),
        path: Member(target=f"{name}.so.{version}"),
        f"{match[1]}.so.{version}": member,
    }


def _described(archive: Path, folder: Path) -> dict[str, str]:
    data = archive.read_bytes()
    return {
        "relative_path": str(archive.relative_to(folder)),
        "sha256": hashlib.sha256(data).hexdigest(),
        "md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "size": str(len(data)),
    }
