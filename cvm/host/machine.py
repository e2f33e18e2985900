"""What a machine shows of its GPU and driver in files: nothing is asked of the driver itself."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from cvm.core.machine import Machine
from cvm.elf.files import Disk

if TYPE_CHECKING:
    from cvm.elf.files import Files

# Device files of a desktop's or server's GPU, and of Jetson's.
_DEVICES = re.compile(r"nvidia[0-9]+|nvidiactl|nvhost-gpu|nvgpu")

# Windows' GPU in WSL, of whatever maker: NVIDIA's brings its libraries with it.
_WSL_DEVICE, _WSL_LIBRARIES = "/dev/dxg", "/usr/lib/wsl/lib"

_KERNEL_MODULE = "/proc/driver/nvidia/version"
# `NVIDIA UNIX x86_64 Kernel Module  550.54.14  …`, `NVIDIA UNIX Open Kernel Module for x86_64  555.42.06  …`
_MODULE_VERSION = re.compile(rb"Kernel Module(?: for \S+)?\s+([0-9]+(?:\.[0-9]+)+)")

_LIBRARY_FOLDERS = (
    _WSL_LIBRARIES,
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/usr/lib64",
    "/usr/lib64/nvidia",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
)
# The file is called `libcuda.so.1.1` on WSL and Tegra, which is no version of the driver.
_LIBRARY_VERSION = re.compile(r"libcuda\.so\.([0-9]{3,}(?:\.[0-9]+)+)")

_TEGRA_RELEASE = "/etc/nv_tegra_release"
# `NVIDIA Jetson AGX Orin Developer Kit`, `NVIDIA Orin NX …`
_TEGRA_MODEL = re.compile(rb"jetson|tegra|nvidia.*(orin|xavier|thor)", re.IGNORECASE)


def read_machine(files: Files, *, live: bool | None = None) -> Machine:
    """Read what kind of machine this is.

    `live` is whether the files are those of the running machine, by default when their root is `/`. In the files of an
    image no GPU can be seen, and that there is none can't either: `gpu` is None.
    """
    live = isinstance(files, Disk) and not files.root if live is None else live
    return Machine(_gpu(files) if live else None, _driver(files), _is_wsl(files), _is_tegra(files))


def _gpu(files: Files) -> bool:
    if any(map(_DEVICES.fullmatch, files.names("/dev"))) or _text(_KERNEL_MODULE, files):
        return True
    windows = not isinstance(files.identity(_WSL_DEVICE), int)
    return windows and any(name.startswith("libcuda.so") for name in files.names(_WSL_LIBRARIES))


def _driver(files: Files) -> str | None:
    """Return the driver's version: of the kernel module, else of the library that came with it."""
    found = _MODULE_VERSION.search(_text(_KERNEL_MODULE, files))
    if found:
        return found[1].decode()
    names = (posixpath.basename(files.real(posixpath.join(folder, "libcuda.so.1"))) for folder in _LIBRARY_FOLDERS)
    versions = filter(None, map(_LIBRARY_VERSION.fullmatch, names))
    return next((one[1] for one in versions), None)


def _is_wsl(files: Files) -> bool:
    return b"microsoft" in _text("/proc/sys/kernel/osrelease", files).lower()


def _is_tegra(files: Files) -> bool:
    if not isinstance(files.identity(_TEGRA_RELEASE), int):
        return True
    return _TEGRA_MODEL.search(_text("/proc/device-tree/model", files)) is not None


def _text(path: str, files: Files) -> bytes:
    try:
        return files.content(path)
    except OSError:
        return b""
