"""Where cvm keeps things on disk: the only module that spells these paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Changes whenever the unpacker would make other files of the same archive.
UNPACKER_REVISION = 1


# The folder of a prefix that holds what cvm records of it, and the file that is written last.
RECORDS = ".cvm"
RECEIPT = "receipt.json"


class Layout(NamedTuple):
    """The folders of one home. `site` is a second, read-only home that is searched after it."""

    home: Path
    site: Path | None = None
    cache_home: Path | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Layout:
        """Choose the home: CVM_HOME, else the user's data folder; CVM_SITE_HOME, CVM_CACHE_DIR likewise.

        Raises UsageError where the system doesn't know a home that is needed.
        """
        return cls(
            _named("CVM_HOME", environment) or usual_home(),
            _named("CVM_SITE_HOME", environment),
            _named("CVM_CACHE_DIR", environment),
        )

    @property
    def store(self) -> Path:
        """Unpacked archives, one folder each, keyed by sha256."""
        return self.home / "store"

    @property
    def toolchains(self) -> Path:
        """One prefix a folder."""
        return toolchains_folder(self.home)

    @property
    def resolved(self) -> Path:
        """One link for each request that means something, to the prefix that it means."""
        return resolved_folder(self.home)

    @property
    def shims(self) -> Path:
        """One exec shim for each CUDA tool: the folder that stands on PATH."""
        return self.home / "shims"

    @property
    def shell(self) -> Path:
        """The shell integrations that rc files read."""
        return self.home / "shell"

    @property
    def global_file(self) -> Path:
        """The global default: a file like `.cuda-version`."""
        return self.home / "global"

    @property
    def manifests(self) -> Path:
        """Manifests that add to the shipped ones, or override them."""
        return self.home / "manifests"

    @property
    def cache(self) -> Path:
        """Archives that have arrived in part."""
        return self.cache_home or self.home / "cache"

    @property
    def judgements(self) -> Path:
        """Answers about environments, kept for as long as their files don't change."""
        return self.home / "judgements"

    @property
    def locks(self) -> Path:
        """Kernel locks: freed when the process that holds one dies."""
        return self.home / "locks"

    @property
    def install_lock(self) -> Path:
        """The lock under which the store and the toolchains change."""
        return self.locks / "install.lock"

    def toolchain(self, name: str) -> Path:
        """The prefix of a toolchain by its exact name."""
        return self.toolchains / name

    def part(self, sha256: str) -> Path:
        """The bytes of an archive that have arrived so far."""
        return self.cache / f"{sha256}.part"

    def homes(self) -> tuple[Path, ...]:
        """The homes to search, the user's own first."""
        return (self.home,) if self.site is None else (self.home, self.site)


def toolchains_folder(home: Path) -> Path:
    """Where a home keeps its prefixes."""
    return home / "toolchains"


def resolved_folder(home: Path) -> Path:
    """Where a home keeps the links of the requests that it answers."""
    return home / "resolved"


def store_entry(store: Path, sha256: str) -> Path:
    """Where a store keeps the archive with this hash."""
    return store / sha256[:2] / f"{sha256}-{UNPACKER_REVISION}"


def _named(variable: str, environment: Mapping[str, str]) -> Path | None:
    text = environment.get(variable)
    if not text:
        return None
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{variable} is {text}, whose home folder is not known", hint=f"set {variable} to a whole path"
        ) from error


def usual_home() -> Path:
    """Return the home where CVM_HOME names none; raises UsageError where the system knows no folder of the user's."""
    from platformdirs import user_data_path

    try:
        path = user_data_path("cvm")
    except RuntimeError:
        path = Path("~")
    # Older versions of platformdirs leave the `~` where it is.
    if not path.is_absolute():
        raise UsageError("HOME is not set, and this user has no home folder", hint="set CVM_HOME to a folder")
    return path
