"""The Python environments to compare in: what each holds, how it is built, and that it goes away again."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truth.compare import Folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The `and-cuda` of tensorflow 2.14 also wants a tensorrt that no index has any more; this is the rest of it.
_TENSORFLOW_CU11 = (
    "nvidia-cublas-cu11==11.11.3.6",
    "nvidia-cuda-cupti-cu11==11.8.87",
    "nvidia-cuda-nvcc-cu11==11.8.89",
    "nvidia-cuda-runtime-cu11==11.8.89",
    "nvidia-cudnn-cu11==8.7.0.84",
    "nvidia-cufft-cu11==10.9.0.58",
    "nvidia-curand-cu11==10.3.0.86",
    "nvidia-cusolver-cu11==11.4.1.48",
    "nvidia-cusparse-cu11==11.7.5.86",
    "nvidia-nccl-cu11==2.16.5",
)


@dataclass(frozen=True)
class Spec:
    """A row of the matrix: its name, the package that is imported, a Python, and what pip is asked for.

    `distribution` is the one whose libraries use CUDA, where its name is another.
    `folders` are more folders in site-packages with libraries of the package's own.
    """

    name: str
    package: str
    python: str
    requirements: tuple[str, ...]
    distribution: str = ""
    folders: tuple[str, ...] = ()

    @property
    def consumer(self) -> str:
        """The name that cvm knows it by."""
        return self.distribution or self.package

    def libraries(self, place: Path) -> Folders:
        """Return the folders of an environment whose libraries are the consumer's own, and NVIDIA's."""
        packages = next((place / "lib").glob("python3*/site-packages"))
        own = tuple(str(packages / name) for name in (self.package, *self.folders))
        return Folders(own, (str(packages / "nvidia"),))


SPECS = (
    Spec("torch-1.13.1", "torch", "3.10", ("torch==1.13.1", "numpy<2")),
    Spec("torch-2.0.1", "torch", "3.10", ("torch==2.0.1", "numpy<2")),
    Spec("torch-2.5.1", "torch", "3.11", ("torch==2.5.1", "numpy<2")),
    Spec("torch-2.8.0", "torch", "3.11", ("torch==2.8.0", "numpy")),
    Spec("torch-newest", "torch", "3.12", ("torch", "numpy")),
    Spec("tensorflow-2.14", "tensorflow", "3.11", ("tensorflow==2.14.1", "numpy<2", *_TENSORFLOW_CU11)),
    Spec("tensorflow-newest", "tensorflow", "3.12", ("tensorflow[and-cuda]",)),
    Spec("jax", "jax", "3.11", ("jax[cuda12]",), "jax-cuda12-plugin", ("jaxlib", "jax_plugins", "jax_cuda12_plugin")),
    Spec("onnxruntime-gpu", "onnxruntime", "3.11", ("onnxruntime-gpu",), "onnxruntime-gpu"),
)


@dataclass(frozen=True)
class Builder:
    """Makes environments below a folder, one at a time; `existing` are taken as they are, and left alone."""

    folder: Path
    pythons: Mapping[str, str]
    existing: Mapping[str, Path]
    keep: bool = False

    @contextmanager
    def environment(self, spec: Spec) -> Iterator[Path]:
        """Yield an environment's folder; raises SystemExit where it can't be built."""
        if spec.name in self.existing:
            yield self.existing[spec.name]
            return
        place = self.folder / spec.name
        done = place / ".complete"
        try:
            if not done.exists():
                self._build(spec, place)
                done.touch()
            yield place
        finally:
            if not self.keep:
                shutil.rmtree(place, ignore_errors=True)

    def _build(self, spec: Spec, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        _run(spec, self._python(spec.python), "-m", "venv", str(place))
        pip = (str(place / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check")
        _run(spec, *pip, "--no-cache-dir", *spec.requirements)

    def _python(self, version: str) -> str:
        given = self.pythons.get(version) or shutil.which(f"python{version}")
        if given:
            return given
        # As pyenv keeps them, where it isn't on PATH.
        found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
        if not found:
            raise SystemExit(f"error: no python{version} on PATH; name one: --python {version}=PROGRAM")
        return str(found[-1])


def _run(spec: Spec, *argv: str) -> None:
    if subprocess.run(argv, stdout=subprocess.DEVNULL, check=False).returncode:
        raise SystemExit(f"error: {spec.name} can't be built: {' '.join(argv)}")
