"""Virtual environments with a stand-in torch and NVIDIA's wheels, and folders of toolkits and cuDNN beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.truth import facts
from tests.truth.contents import Versions
from tests.truth.linking import Build, spell_out

STANDINS = Path(__file__).with_name("standins")
# No wheel of it is at hand; that the symbol is missing is what people report who have an older CUDA 11 in front.
OLD, LACKS = "11.5", "cublasLtHSHMatmulAlgoInit"


class Environment(NamedTuple):
    """An interpreter, its site-packages, and the variables that it runs with."""

    python: Path
    site: Path
    variables: dict[str, str]


class Shelf:
    """Makes what the tests ask for, each once, below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environments: dict[str, Environment] = {}

    def torch(self, version: str) -> Environment:
        """Return an environment with a release of PyTorch as pip installs it."""
        if version not in self.environments:
            environment = _virtual(self.root / f"torch-{version}")
            _install(facts.torch(version), environment.site, self.root / f"twins-{version}")
            self.environments[version] = environment
        return self.environments[version]

    def apart(self, version: str) -> Environment:
        """Return an environment with the wheels of NVIDIA only, torch lies in a folder on PYTHONPATH."""
        name = f"{version} apart"
        if name not in self.environments:
            site = self.torch(version).site
            environment = _virtual(self.root / f"apart-{version}")
            aside = self.root / f"aside-{version}"
            for path in site.iterdir():
                target = aside if path.name.startswith("torch") else environment.site
                shutil.copytree(path, target / path.name, copy_function=os.link, ignore=shutil.ignore_patterns("*.pyc"))
            self.environments[name] = environment._replace(variables={"PYTHONPATH": str(aside)})
        return self.environments[name]

    def libraries(self, name: str) -> Path:
        """Return a folder for LD_LIBRARY_PATH: a toolkit's, such as `12.1`, or a cuDNN's, such as `cudnn 9.1.1`."""
        cudnn = name.startswith("cudnn ")
        folder = self.root / (name.replace(" ", "-") if cudnn else f"cuda-{name}/lib64")
        if not folder.exists():
            (_cudnn if cudnn else _toolkit)(name.rpartition(" ")[2], folder, self.root / f"twins-{name}")
        return folder


def _toolkit(version: str, folder: Path, twins: Path) -> None:
    libraries = facts.toolkit("11.8") if version == OLD else facts.toolkit(version)
    if version == OLD:
        libraries = tuple(_older(one) for one in libraries if one.name.startswith("libcublas"))
    Build(folder, twins, libraries, Versions()).make_all()
    spell_out(folder)


def _older(library: facts.Library) -> facts.Library:
    """Return cuBLAS as of CUDA 11.5: without what came later, neither defined nor wanted, and it opens nothing."""

    def older(symbols):
        return tuple(one for one in symbols if one != LACKS and "_for_" not in one)

    needs = tuple(one._replace(symbols=older(one.symbols)) for one in library.needs)
    return library._replace(defines=older(library.defines), needs=needs, opens=())


def _cudnn(version: str, folder: Path, twins: Path) -> None:
    number = tuple(map(int, version.split(".")))
    Build(folder, twins, facts.cudnn(number[0]), Versions(number)).make_all()
    spell_out(folder, version)


def _virtual(folder: Path) -> Environment:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = folder / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    return Environment(folder / "bin/python", site, {})


def _install(torch: facts.Torch, site: Path, twins: Path) -> None:
    cudnn = next(version for name, version in torch.requires if "cudnn" in name)
    number = tuple(map(int, cudnn.split(".")[:3]))
    wheel = [one._replace(path=f"nvidia/cudnn/lib/{one.name}") for one in facts.cudnn(number[0])]
    Build(site, twins, [*torch.libraries, *wheel], Versions(number, torch.cudnn), torch.rpath).make_all()
    _code(torch, site)
    for name, version in torch.requires:
        folder = name.removeprefix("nvidia-").rpartition("-cu")[0].replace("-", "_")
        _record(site, name, version, f"nvidia/{folder}")
    needs = [f"{name}=={version}" for name, version in torch.requires]
    _record(site, "torch", torch.version, "torch", needs)


def _code(torch: facts.Torch, site: Path) -> None:
    for source, target in (
        (f"torch_{torch.version.replace('.', '_')}.py", "__init__.py"),
        ("cudnn.py", "backends/cudnn/__init__.py"),
    ):
        (site / "torch" / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STANDINS / source, site / "torch" / target)
    (site / "torch/backends/__init__.py").touch()
    (site / "torch/version.py").write_text(f"cuda = {torch.cuda!r}\n__version__ = {torch.version!r}\n")


def _record(site: Path, name: str, version: str, folder: str, requires=()) -> None:
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]
    (info / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *lines, ""]))
    paths = [path for path in sorted((site / folder).rglob("*")) if path.is_file()]
    (info / "RECORD").write_text("".join(f"{path.relative_to(site)},,{path.stat().st_size}\n" for path in paths))
