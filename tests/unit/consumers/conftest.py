"""Packages as text, imported once by a real Python and once by the model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cvm.consumers.session import LoadError, Session, World
from cvm.core.packages import Distribution, PythonEnvironment, SearchFolder
from cvm.elf.files import Disk
from cvm.elf.runtime import Processor, read_runtime

# What a module of C needs, without Python's headers.
EXTENSION = """
struct base { long count; void *type; void *init; long index; void *copy; };
struct definition { struct base base; const char *name, *doc; long size; void *rest[5]; };
static struct definition module = {{1}, "module", 0, -1};
void *PyModule_Create2(void *, int);
void *PyInit_NAME(void) { return PyModule_Create2(&module, 1013); }
"""
TELL = """
import json, sys
error = None
try:
    import {package}
except BaseException as caught:
    kind = type(caught)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{{kind.__module__}}.{{kind.__qualname__}}"
    error = f"{{name}}: {{caught}}" if str(caught) else name
result = repr(getattr(sys.modules.get("{package}"), "RESULT", None))
maps = sorted({{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}})
print(json.dumps([error, maps, result]))
"""


class Told(NamedTuple):
    """What came of an import: the last line of the error, the files of the test that are mapped, and `RESULT`."""

    error: str | None
    mapped: tuple[str, ...]
    result: str = "None"


class Site:
    """A folder of packages. In every text `<root>` stands for the folder of the test."""

    def __init__(self, root: Path, libraries: Path) -> None:
        self.root = root
        self.folder = root / "site"
        self.folder.mkdir()
        self.libraries = libraries
        self.program = os.path.realpath(sys.executable)
        self.environment: dict[str, str] = {}

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("<root>", str(self.root)))

    def lib(self, path, code="", needs=(), *, soname=None, rpath=None, runpath=None, script=None):
        """Make a library; the same one is made once a run."""
        flags = ["-shared", "-fPIC", "-w", "-nostdlib", "-Wl,--no-as-needed", "-Wl,--unresolved-symbols=ignore-all"]
        flags += [f"-Wl,-soname,{soname}"] if soname else []
        flags += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{rpath}"] if rpath else []
        flags += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{runpath}"] if runpath else []
        if script:
            flags.append(f"-Wl,--version-script={self._kept(script, '.map')}")
        links = [str(self._stub(name)) if "/" not in name else str(self.folder / name) for name in needs]
        made = self._made((*flags, code, *links), code, [*flags, *links])
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, target)
        return str(target)

    def extension(self, path, needs=(), **options):
        """Make an extension module."""
        name = Path(path).name.partition(".")[0]
        return self.lib(path, EXTENSION.replace("NAME", name) + options.pop("code", ""), needs, **options)

    def _stub(self, name):
        flags = ["-shared", "-nostdlib", f"-Wl,-soname,{name}"]
        return self._made((name,), "", flags)

    def _kept(self, text, ending):
        path = self.libraries / f"{abs(hash(text))}{ending}"
        path.write_text(text)
        return path

    def _made(self, key, code, flags):
        path = self.libraries / f"{abs(hash(key))}.so"
        if not path.exists():
            words = ["gcc", *flags, "-x", "c", "-", "-o", str(path)]
            # Libraries to link stand behind the source.
            links = [one for one in words if one.endswith(".so") and one != str(path)]
            words = [one for one in words if one not in links] + ["-x", "none", *links]
            done = subprocess.run(words, input=code, text=True, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
        return path

    # -- both ways

    def real(self, package):
        """Import a package with the Python that runs the tests."""
        code = TELL.format(package=package)
        error, maps, result = json.loads(self._python(code))
        return Told(error, tuple(one for one in maps if one.startswith(f"{self.root}/")), result)

    def _python(self, code):
        environment = {**self.variables, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        words = [self.program, "-S", "-c", code]
        done = subprocess.run(words, env=environment, cwd=self.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    @property
    def variables(self):
        return {name: value.replace("<root>", str(self.root)) for name, value in self.environment.items()}

    def session(self, *distributions):
        """Return a process of the model that starts the same Python here."""
        code = "import json, sys; print(json.dumps([sys.path, sys.version_info[:2], sys.prefix, sys.executable]))"
        path, version, prefix, executable = json.loads(self._python(code))
        search = tuple(SearchFolder(one, "test") for one in path)
        python = PythonEnvironment(executable, self.program, prefix, tuple(version), search, distributions)
        files = Disk()
        runtime = read_runtime(files, files.elf(self.program).interpreter, Processor())
        return Session(World(files, self.program, runtime, self.variables, str(self.root), python))

    def distribution(self, name, version="1.0"):
        return Distribution(name, version, str(self.folder), f"{self.folder}/{name}-{version}.dist-info")

    def told(self, session, load):
        """Run a load and say what came of it."""
        error = None
        try:
            load()
        except LoadError as caught:
            error = str(caught)
        paths = {os.path.realpath(one.path) for one in session.process.loaded}
        return Told(error, tuple(sorted(one for one in paths if one.startswith(f"{self.root}/"))))


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("needs gcc and glibc's loader")
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture
def site(tmp_path, libraries):
    return Site(tmp_path.resolve(), libraries)
