"""A Python environment of tiny libraries: wheels with RUNPATH, torch with RPATH, toolkits beside it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from cvm.consumers.consumer import Consumer, CudnnVersions, LibraryFile
from cvm.consumers.session import Session
from cvm.consumers.session import World as Place
from cvm.core.machine import Machine
from cvm.core.packages import Distribution, PythonEnvironment, SearchFolder
from cvm.doctor.blame import mapped
from cvm.doctor.case import Case, PathElement
from cvm.doctor.family import is_cuda
from cvm.doctor.judge import judge
from cvm.elf.files import Disk
from cvm.elf.process import Mode
from tests.loader.world import World

SITE = "venv/lib/python3.11/site-packages"
WHEELS = ("cublas", "cusparse", "nvjitlink", "cudnn", "nccl", "cuda_nvrtc", "cuda_runtime")
BESIDE = ":".join(f"$ORIGIN/../../{name}/lib" for name in WHEELS)
TORCH = ":".join(["$ORIGIN", *(f"$ORIGIN/../../nvidia/{name}/lib" for name in WHEELS)])


class Env(World):
    """One environment; `open` and `dlopen` say what the consumer's code loads."""

    def __init__(self, root, tools):
        super().__init__(root, tools)
        self.runtime = tools.runtime
        self.versions: dict[str, str] = {}
        self.opens: list[tuple[str, dict]] = []

    # -- files

    def wheel(self, package, soname, code="", needs=(), *, version=None, **options):
        """Make a library of one of NVIDIA's wheels; its symbols carry its soname as their version."""
        path = f"{SITE}/nvidia/{package}/lib/{soname}"
        return self.cuda(path, code, needs, version=version, runpath=f"$ORIGIN:{BESIDE}", **options)

    def cuda(self, path, code="", needs=(), *, version=None, plain=False, soname=None, **options):
        """Make a CUDA library anywhere; a plain one has no versions, as NCCL has none."""
        soname = soname or path.rpartition("/")[2]
        script = None if plain else f"{soname} {{ global: *; }};"
        self.versions[os.path.realpath(f"{self.root}/{path}")] = version
        self.lib(path, code, needs, soname=soname, script=script, **options)
        return path

    def torch(self, name, code="", needs=()):
        """Make a library of torch, which finds the wheels by its RPATH."""
        path = f"{SITE}/torch/lib/{name}"
        self.lib(path, code, needs, soname=name, rpath=TORCH)
        return path

    def in_cache(self, **names):
        """Put names (with `_` for `.`) into ld.so.cache."""
        files = {name: str(self.root / path) for name, path in names.items()}
        cache = SimpleNamespace(find=lambda name, *_: files.get(re.sub(r"[.-]", "_", name)))
        self.runtime = self.runtime._replace(cache=cache)

    # -- the consumer

    def open(self, name, mode=Mode.NOW, caller=None, *, handled=False, later=False):
        """Say that the consumer's code opens a library."""
        name = name if "/" not in name else str(self.root / name)
        caller = caller and str(self.root / caller)
        self.opens.append((name, {"mode": mode, "caller": caller, "handled": handled, "later": later}))

    def consumer(self, name="torch", version="2.5.1", *, cudnn=None, elsewhere=None, error=None, requires=()):
        """Load it in the model, with the variables and without."""
        files = Disk()
        environment = {key: self.text(value) for key, value in self.environment.items()}
        place = Place(files, self.binary, self.runtime, environment, str(self.folder))
        load = self._drive(Session(place), error)
        clean = load if place.clean.environment == environment else self._drive(Session(place.clean), error)
        both = {**mapped(load), **mapped(clean)}
        libraries = {path: self._library(one) for path, one in both.items() if is_cuda(one.soname or path)}
        folder = str(self.root / SITE)
        distribution = Distribution(name, version, folder, f"{folder}/{name}-{version}.dist-info", requires)
        elsewhere = {key: tuple(map(self.text, paths)) for key, paths in (elsewhere or {}).items()}
        return Consumer(
            name,
            version,
            f"{folder}/{name}",
            distribution,
            load,
            clean,
            libraries,
            elsewhere,
            "12.4",
            self._cudnn(cudnn, load),
        )

    def case(self, *consumers, gpu=None):
        """Make a case of consumers; of torch if there are none."""
        environment = {key: self.text(value) for key, value in self.environment.items()}
        consumers = consumers or (self.consumer(),)
        value = environment.get("LD_LIBRARY_PATH")
        elements = re.split("[:;]", value) if value else []
        path = tuple(
            PathElement(number, text, text if Path(text).is_dir() else None) for number, text in enumerate(elements)
        )
        return Case(environment, consumers, self.python(consumers), path, Machine(gpu=gpu))

    def python(self, consumers):
        site = str(self.root / SITE)
        distributions = tuple(one.distribution for one in consumers)
        return PythonEnvironment(
            "python", self.binary, "/venv", (3, 11), (SearchFolder(site, "site-packages"),), distributions
        )

    def judged(self, *consumers, gpu=None):
        """Return all that the judge says."""
        return judge(self.case(*consumers, gpu=gpu))

    def only(self, *consumers, gpu=None):
        """Return the only finding."""
        (finding,) = self.judged(*consumers, gpu=gpu)
        return finding

    # -- the oracle

    def told(self, *names, clean=False):
        """Return what the real loader says in a Python that opens libraries; the last line, None if all is well."""
        code = "import ctypes, sys\nfor one in sys.argv[1:]:\n    ctypes.CDLL(one)"
        environment = {} if clean else {key: self.text(value) for key, value in self.environment.items()}
        words = [name if "/" not in name else str(self.root / name) for name in names]
        done = subprocess.run(
            [sys.executable, "-S", "-c", code, *words],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return None if done.returncode == 0 else done.stderr.splitlines()[-1].removeprefix("OSError: ")

    # -- parts

    def _drive(self, session, error):
        started = session.process.started.failure
        if started is not None:
            return session.result(f"{self.binary}: {started.text}")
        for name, how in self.opens:
            if how["later"]:
                session.import_ends()
            caller = how["caller"]
            if caller and session.process.find(caller) is None:
                continue
            call = f"ctypes.CDLL({name.rpartition('/')[2]!r})"
            outcome = session.open(name, call, "x.py:1", mode=how["mode"], caller=caller, handled=how["handled"])
            if not outcome.ok and not how["handled"] and not how["later"]:
                return session.result(f"ImportError: {outcome.failure.text}")
        return session.result(error)

    def _library(self, one):
        build = hashlib.sha256(Path(one.path).read_bytes()).hexdigest()
        return LibraryFile(
            one.path, os.path.realpath(one.path), one.soname, self.versions.get(os.path.realpath(one.path)), None, build
        )

    def _cudnn(self, compiled, load):
        if compiled is None:
            return None
        core = next((one for one in load.loaded if "libcudnn_graph" in one.path), None)
        version = self.versions.get(os.path.realpath(core.path)) if core else None
        runtime = tuple(map(int, version.split(".")[:3])) if version else None
        return CudnnVersions(
            compiled, "nvidia-cudnn-cu12==" + ".".join(map(str, compiled)), runtime, core and core.path
        )
