"""Where the files of an archive go in a prefix.

NVIDIA ships one component in two layouts. An archive has one folder around everything and a folder
`lib`; a wheel has `nvidia/<component>/` or `nvidia/cu13/` and no links. Both become the layout of
an installed toolkit: `bin`, `include`, `lib`, `nvvm`, `share/doc/<component>` for licences.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cvm.core.platform import target_triple
from cvm.core.version import Version
from cvm.errors import IncompatibleError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A folder of an archive -> its folder in the prefix; the longest match counts.
_FOLDERS = {
    "lib64": "lib",
    "pkg-config": "lib/pkgconfig",
    "pkgconfig": "lib/pkgconfig",
    "man": "share/man",
}
_FOLDERS_OF_COMPONENT = {
    # Four of its headers have the names of CUPTI's, with other content.
    "cuda_sanitizer_api": {"include": "compute-sanitizer/include"},
    "cuda_cupti": {
        "extras/CUPTI/include": "include",
        "extras/CUPTI/lib64": "lib",
        "extras/CUPTI/lib": "lib",
        "samples": "extras/CUPTI/samples",
    },
    # nvcc looks for cicc there; the wheel of 13.0.48 alone has it elsewhere.
    "libnvvm": {"bin": "nvvm/bin"},
    "libcufile": {"etc": "gds", "tools": "gds/tools"},
    # The wheels of 13.2 and of 13.3 and later keep the CMake files apart from the headers they look for.
    "cuda_cccl": {"cuda_cccl/lib": "lib", "cccl/lib": "lib", "cccl": "share/doc/cuda_cccl"},
    "cccl": {"cuda_cccl/lib": "lib", "cccl/lib": "lib", "cccl": "share/doc/cccl"},
}
# Older wheels of the sanitizer spread over `bin` and `lib` what every other layout keeps together.
_SANITIZER = "compute-sanitizer"
_SANITIZER_SPREAD = {"bin": _SANITIZER, "lib": _SANITIZER}
# What an installed toolkit has as links; the repairs make them.
_LINKS_OF_A_TOOLKIT = frozenset({"lib64", "include", "lib", "pkg-config", "pkgconfig"})
_KEPT_AT_THE_ROOT = frozenset({"version.json", "version.txt", "EULA.txt"})

_LICENSE = re.compile(r"(?i)(licen[cs]e|eula|notice|copying)[^/]*")
_LIB_OF_A_CUDA = re.compile(r"lib/(\d+(?:\.\d+)?)/")


@dataclass(frozen=True, slots=True)
class Placement:
    """Places the members of one archive; `root` is the folder around them, `folders` says what moves."""

    component: str
    is_wheel: bool
    root: str
    folders: Mapping[str, str]
    dropped: tuple[str, ...] = ()

    def file(self, member: str) -> str | None:
        """Return the path of a file in the prefix, or None for what a toolkit has no use for."""
        if self.is_wheel:
            return self._wheel_file(member)
        inner = _below(self.root, member)
        return None if inner is None else self._inner_file(inner)

    def folder(self, member: str) -> str | None:
        """Return the path of a folder in the prefix, or None when none of its files is placed."""
        inner = _below(self._wheel_root(member) if self.is_wheel else self.root, member + "/")
        return None if inner is None else self._moved(inner.rstrip("/"))

    def link(self, member: str) -> str | None:
        """Return the path of a symbolic link in the prefix; the links that repairs make are left out."""
        path = self.file(member)
        inner = _below(self.root, member)
        return None if inner is None or inner in _LINKS_OF_A_TOOLKIT or self._is_of_targets(inner) else path

    def _wheel_file(self, member: str) -> str | None:
        parts = member.split("/")
        if parts[-1] == "__init__.py" or "__pycache__" in parts or ".metadata" in parts:
            return None
        if parts[0].endswith(".dist-info"):
            return self._license(parts[1:])
        inner = _below(self._wheel_root(member), member)
        return None if inner is None else self._inner_file(inner)

    def _wheel_root(self, member: str) -> str:
        parts = member.split("/")
        return "/".join(parts[:2]) if parts[0] == "nvidia" else parts[0]

    def _license(self, parts: Sequence[str]) -> str | None:
        if parts[0] == "licenses":
            return posixpath.join(self._documents, *parts[1:])
        return posixpath.join(self._documents, parts[0]) if _LICENSE.fullmatch(parts[0]) else None

    def _inner_file(self, inner: str) -> str | None:
        if any(inner.startswith(folder + "/") for folder in self.dropped):
            return None
        if "/" not in inner:
            return inner if inner in _KEPT_AT_THE_ROOT else posixpath.join(self._documents, inner)
        return self._moved(inner)

    def _moved(self, inner: str) -> str:
        head = inner
        while head:
            if head in self.folders:
                return self.folders[head] + inner[len(head) :]
            head = posixpath.dirname(head)
        return inner

    def _is_of_targets(self, inner: str) -> bool:
        return inner.startswith("targets/") and inner.count("/") <= 2

    @property
    def _documents(self) -> str:
        return f"share/doc/{self.component}"


def placement(component: str, filename: str, members: Sequence[str], toolkit: Version, platform: str) -> Placement:
    """Decide how the members of an archive are placed, for a toolkit and a platform.

    Raises IncompatibleError when its libraries are for other CUDA versions only.
    """
    is_wheel = filename.endswith(".whl")
    root = "" if is_wheel else _common_folder(members)
    triple = f"targets/{target_triple(platform)}"
    folders = _FOLDERS | {f"{triple}/lib": "lib", f"{triple}/include": "include"}
    folders |= _FOLDERS_OF_COMPONENT.get(component, {})
    if component == "cuda_sanitizer_api" and not any(f"/{_SANITIZER}/" in member for member in members):
        folders |= _SANITIZER_SPREAD
    found = {match[1] for member in members if (match := _LIB_OF_A_CUDA.match(_below(root, member) or ""))}
    if not found:
        return Placement(component, is_wheel, root, folders)
    chosen = choose_lib(found, toolkit)
    if chosen is None:
        raise IncompatibleError(f"{filename} has libraries for CUDA {', '.join(sorted(found))}, not for {toolkit}")
    return Placement(
        component,
        is_wheel,
        root,
        folders | {f"lib/{chosen}": "lib"},
        tuple(sorted(f"lib/{name}" for name in found - {chosen})),
    )


def choose_lib(names: set[str], toolkit: Version) -> str | None:
    """Choose among the folders `lib/11`, `lib/12`, … that older archives of companions have; None when none serves."""
    exact, major = f"{toolkit.major}.{toolkit.minor}", str(toolkit.major)
    for name in (exact, major):
        if name in names:
            return name
    of_the_major = [name for name in names if name.split(".")[0] == major]
    return max(of_the_major, key=Version, default=None)


def _below(root: str, member: str) -> str | None:
    if not root:
        return member
    return member[len(root) + 1 :] or None if member.startswith(root + "/") else None


def _common_folder(members: Sequence[str]) -> str:
    """Find the one folder around all members: it is read, for its name does not follow from the version."""
    tops = {member.split("/", 1)[0] for member in members}
    return tops.pop() if len(tops) == 1 and all("/" in member for member in members) else ""
