"""The platform keys of NVIDIA's redistrib manifests, which are cvm's own."""

from __future__ import annotations

from cvm.errors import UsageError

# https://developer.download.nvidia.com/compute/cuda/redist/: the keys seen from 11.4.2 to 13.0.2.
# `linux-sbsa` is an arm64 server; `linux-aarch64` is Jetson.
PLATFORMS = (
    "linux-x86_64",
    "linux-sbsa",
    "linux-aarch64",
    "linux-ppc64le",
    "windows-x86_64",
    "windows-arm64",
)

INSTALLABLE = tuple(key for key in PLATFORMS if key.startswith("linux-"))

_MACHINES = {"x86_64": "linux-x86_64", "amd64": "linux-x86_64", "aarch64": "linux-sbsa", "arm64": "linux-sbsa"}


def platform_of(system: str, machine: str) -> str:
    """Name the platform of a machine from `uname`; raises UsageError where NVIDIA publishes nothing."""
    key = _MACHINES.get(machine.lower())
    if system.lower() != "linux" or key is None:
        raise UsageError(
            f"cvm does not install on {system} {machine}",
            hint=f"choose another platform with --platform, one of {', '.join(INSTALLABLE)}",
        )
    return key


def parse_platform(text: str) -> str:
    """Check a platform key that a person typed."""
    if text not in INSTALLABLE:
        raise UsageError(f"`{text}` is not a platform that cvm installs", hint=f"one of {', '.join(INSTALLABLE)}")
    return text


def foreign_name(name: str, platform: str) -> str:
    """Name a toolchain for another platform than this machine's."""
    return f"{name}-{platform}"


def native_name(name: str, platform: str) -> str:
    """Return the name without its platform: what a person asks for."""
    return name.removesuffix(f"-{platform}")


def target_triple(platform: str) -> str:
    """Name a platform the way nvcc does: `targets/<triple>` is where it looks for headers and libraries."""
    return f"{platform.removeprefix('linux-')}-linux"
