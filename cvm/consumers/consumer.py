"""A CUDA consumer with all that the checks need to judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.load import Load
    from cvm.core.packages import Distribution


class LibraryFile(NamedTuple):
    """A library on disk: who brought it (`nvidia-cublas-cu12 12.4.5.8`, `cvm toolchain 12.1`), and its own version.

    Two files with equal `build` are the same build, whatever their paths. `version` is None where nothing tells it.
    """

    path: str
    real: str
    soname: str | None
    version: str | None
    owner: str | None
    build: str

    @property
    def folder(self) -> str:
        """The folder of the real file."""
        return self.real.rpartition("/")[0] or "/"


class CudnnVersions(NamedTuple):
    """The cuDNN that a consumer was compiled against, and the one that would answer `cudnnGetVersion` here.

    Each is (major, minor, patch), None where it can't be told; `answered_by` is the file that holds the function.
    """

    compiled: tuple[int, int, int] | None
    compiled_from: str
    runtime: tuple[int, int, int] | None
    answered_by: str | None


class Consumer(NamedTuple):
    """A package or ELF file that loads CUDA libraries, loaded twice in the model.

    `load` is with the environment as it is; `clean` is the same without LD_LIBRARY_PATH and LD_PRELOAD: where both
    differ, those variables are why, and what `clean` found is what the consumer wants. `clean` is `load` itself where
    neither variable is set. `libraries` describes the CUDA libraries of both, by path. `elsewhere` names, for a library
    that is missing, files of that library that exist: of another major, or in folders that nobody searches.
    `cuda` is the CUDA version that it was built for, None for a build for the CPU only, "" where nothing tells.
    `first_use_error` is what a person would see at the first use of CUDA, after an import that succeeds.
    """

    name: str
    version: str | None
    path: str
    distribution: Distribution | None
    load: Load
    clean: Load
    libraries: Mapping[str, LibraryFile]
    elsewhere: Mapping[str, tuple[str, ...]]
    cuda: str | None = ""
    cudnn: CudnnVersions | None = None
    first_use_error: str | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name
