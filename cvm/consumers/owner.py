"""Who brought a file: a wheel, a toolchain of cvm's, conda, the system's packages or NVIDIA's installer."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from cvm.consumers.families import family_of
from cvm.consumers.record import recorded
from cvm.core.receipt import parse_receipt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.consumers.session import World
    from cvm.core.packages import Distribution
    from cvm.core.receipt import Receipt
    from cvm.elf.files import Files

# What cvm writes last into a prefix; see cvm.layout.
_RECEIPT = ".cvm/receipt.json"
_DPKG = "/var/lib/dpkg/info"
_STATUS = "/var/lib/dpkg/status"

# The component of NVIDIA's that has a family's libraries, where it isn't `lib` and the family's name.
_COMPONENTS = {
    "cudart": "cuda_cudart",
    "nvrtc": "cuda_nvrtc",
    "cupti": "cuda_cupti",
    "nvtx": "cuda_nvtx",
    "nvvm": "cuda_nvcc",
    "cudnn": "cudnn",
    "nccl": "libnccl",
    "cusparselt": "libcusparse_lt",
}


class Owner(NamedTuple):
    """Who brought a file, and the version of that part; None where the owner's version isn't the file's."""

    name: str
    version: str | None

    def __str__(self) -> str:
        return self.name


class Owners:
    """Looks owners up in one world; every record is read once."""

    def __init__(self, world: World) -> None:
        self._files: Files = world.files
        self._distributions: Sequence[Distribution] = world.python.distributions if world.python else ()
        self._records: dict[str, dict[str, int | None]] = {}
        self._receipts: dict[str, Receipt | None] = {}

    def of(self, path: str) -> Owner | None:
        """Return the owner of a file by any of its paths, None for a file that nobody claims."""
        real = self._files.real(path)
        paths = tuple(dict.fromkeys((posixpath.normpath(path), real)))
        for look in (self._wheel, self._toolchain, self._conda, self._debian, self._toolkit):
            found = look(paths)
            if found is not None:
                return found
        return None

    def _wheel(self, paths: Sequence[str]) -> Owner | None:
        """Of several distributions with the same file in their records, take the one that recorded its size."""
        claims = [(one, size) for path in paths for one, size in self._claims(path)]
        if not claims:
            return None
        actual = len(self._files.elf(paths[-1]).data)
        exact = [one for one, size in claims if size in (None, actual)]
        owner = exact[0] if exact else claims[0][0]
        # What another package bundles has not that package's version.
        own = bool(exact) and owner.name.startswith(("nvidia-", "tensorrt"))
        return Owner(str(owner), owner.version if own else None)

    def _claims(self, path: str) -> Iterator[tuple[Distribution, int | None]]:
        below = [one for one in self._distributions if path.startswith(one.folder + "/")]
        # Nearly all libraries are in NVIDIA's wheels, whose records are short.
        for wanted in (True, False):
            found = [one for one in below if one.name.startswith("nvidia-") is wanted and path in self._record(one)]
            yield from ((one, self._record(one)[path]) for one in found)
            if found:
                return

    def _record(self, distribution: Distribution) -> dict[str, int | None]:
        known = self._records.get(distribution.info)
        if known is None:
            known = self._records[distribution.info] = recorded(distribution, self._files, ".so")
        return known

    def _toolchain(self, paths: Sequence[str]) -> Owner | None:
        for path in paths:
            for folder in _above(path):
                receipt = self._receipt(folder)
                if receipt is not None:
                    return Owner(f"cvm toolchain {receipt.name}", _component(receipt, path))
        return None

    def _receipt(self, folder: str) -> Receipt | None:
        if folder not in self._receipts:
            self._receipts[folder] = _read_receipt(self._files, f"{folder}/{_RECEIPT}")
        return self._receipts[folder]

    def _conda(self, paths: Sequence[str]) -> Owner | None:
        for path in paths:
            for folder in _above(path):
                if self._files.is_folder(f"{folder}/conda-meta"):
                    return _conda_owner(self._files, folder, path.removeprefix(folder + "/"))
        return None

    def _debian(self, paths: Sequence[str]) -> Owner | None:
        family = family_of(paths[0]) or ""
        for name in self._files.names(_DPKG):
            if name.endswith(".list") and any(word in name for word in (family, "cuda", "nvidia") if word):
                lines = _text(self._files, f"{_DPKG}/{name}").splitlines()
                if any(path in lines or path.removeprefix("/usr") in lines for path in paths):
                    package = name.removesuffix(".list").partition(":")[0]
                    return Owner(f"Debian package {package}", _debian_version(self._files, package))
        return None

    def _toolkit(self, paths: Sequence[str]) -> Owner | None:
        """Look for the list of versions that NVIDIA's installer leaves in a toolkit's root."""
        for path in paths:
            for folder in _above(path):
                try:
                    document = json.loads(self._files.content(f"{folder}/version.json"))
                    name = f"CUDA Toolkit {document['cuda']['version']} in {folder}"
                except (OSError, ValueError, KeyError, TypeError, RecursionError):
                    continue
                return Owner(name, _listed(document, path))
        return None


def _above(path: str) -> Iterator[str]:
    folder = posixpath.dirname(path)
    while folder != "/":
        yield folder
        folder = posixpath.dirname(folder)


def _read_receipt(files: Files, path: str) -> Receipt | None:
    try:
        return parse_receipt(json.loads(files.content(path)))
    except (OSError, ValueError, RecursionError):
        return None


def _names(path: str) -> set[str]:
    """Return the names that the component with a library can have."""
    family = family_of(path) or ""
    return {_COMPONENTS.get(family, f"lib{family}"), family}


def _listed(document: Mapping[str, Any], path: str) -> str | None:
    found = [part.get("version") for name, part in document.items() if name in _names(path) and isinstance(part, dict)]
    return next((str(version) for version in found if version), None)


def _component(receipt: Receipt, path: str) -> str | None:
    wanted = _names(path)
    return next((one.version for one in receipt.components if {one.component, one.product} & wanted), None)


def _conda_owner(files: Files, root: str, name: str) -> Owner | None:
    for entry in files.names(f"{root}/conda-meta"):
        text = _text(files, f"{root}/conda-meta/{entry}") if entry.endswith(".json") else ""
        if f'"{name}"' not in text:
            continue
        try:
            document = json.loads(text)
            return Owner(f"conda package {document['name']} {document['version']}", str(document["version"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return None


def _debian_version(files: Files, package: str) -> str | None:
    _, _, rest = f"\n{_text(files, _STATUS)}".partition(f"\nPackage: {package}\n")
    lines = rest.partition("\n\n")[0].splitlines()
    found = next((line.partition(": ")[2] for line in lines if line.startswith("Version: ")), None)
    return found and found.partition("-")[0].partition("+")[0]


def _text(files: Files, path: str) -> str:
    try:
        return files.content(path).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
