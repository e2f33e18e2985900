"""A folder of tiny libraries, loaded once by the machine's own loader and once by the model."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from cvm.elf.files import Disk
from cvm.elf.outcome import Kind
from cvm.elf.process import Mode, Process
from cvm.elf.runtime import read_runtime
from cvm.host.loader import read_processor

DRIVER = Path(__file__).with_name("driver.c")
CALLER = "#include <dlfcn.h>\nvoid *open_from(const char *name, int mode) { return dlopen(name, mode); }"


class Step(NamedTuple):
    """What one load came to: the error's text or None, and everything that is mapped then."""

    error: str | None
    mapped: tuple[str, ...]


class Cases:
    """Collects the rules of a module: functions that fill a world."""

    def __init__(self) -> None:
        self.parameters = []

    def __call__(self, function):
        self.parameters.append(pytest.param(function, id=function.__name__))
        return function


class Tools:
    """The compiler, with what all worlds of a test run share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.driver = folder / "driver.o"
        run("gcc", "-c", str(DRIVER), "-o", str(self.driver))
        self.program = folder / "program"
        run("gcc", "-rdynamic", str(self.driver), "-o", str(self.program))
        files = Disk()
        self.interpreter = files.elf(str(self.program)).interpreter
        self.runtime = read_runtime(files, self.interpreter, read_processor())


class World:
    """One test: its files, what is loaded in which order, and what the real loader must make of it.

    In every text `%` stands for the folder of the test.
    """

    def __init__(self, root: Path, tools: Tools) -> None:
        self.root = root
        self.tools = tools
        self.environment: dict[str, str] = {}
        self.folder = root
        self.binary = str(tools.program)
        self.steps: list[tuple[str, ...]] = []
        self.checks: list[tuple[str, str, str]] = []

    # -- files

    def lib(
        self, path, code="", needs=(), *, soname=None, rpath=None, runpath=None, script=None, options=(), libc=False
    ):
        """Make a library; a needed one is a path in here if there is one by now, else just a name."""
        flags = ["-shared", "-fPIC", "-w", *([] if libc else ["-nostdlib"])]
        if script:
            flags.append(f"-Wl,--version-script={self.write(path + '.map', script)}")
        if soname:
            flags.append(f"-Wl,-soname,{soname}")
        return self._link(path, code, needs, rpath, runpath, [*flags, *options])

    def program(self, path, needs=(), *, code="", rpath=None, runpath=None, options=()):
        """Make a program of the driver, and start that one."""
        self.binary = self._link(
            path, code, needs, rpath, runpath, [str(self.tools.driver), "-w", "-rdynamic", *options]
        )
        return self.binary

    def write(self, path, data):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(target)

    def symlink(self, path, target):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to(self.text(target))

    def copy(self, path, source):
        self.write(path, (self.root / source).read_bytes())

    def text(self, text):
        return text.replace("%", str(self.root))

    def _link(self, path, code, needs, rpath, runpath, flags):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        links = [word for name in needs for word in self._link_words(name)]
        if rpath is not None:
            flags += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{self.text(rpath)}"]
        if runpath is not None:
            flags += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{self.text(runpath)}"]
        source = ["-x", "c", "-", "-x", "none"]
        gcc = ["gcc", *flags, *source, "-Wl,--no-as-needed", "-Wl,--unresolved-symbols=ignore-all"]
        run(*gcc, *links, "-o", str(target), text=code)
        return str(target)

    def _link_words(self, name):
        """Say what to link; a library without a soname is needed by the name of its file."""
        path = self.root / name
        return [f"-L{path.parent}", f"-l:{path.name}"] if path.exists() else [self._stub(name)]

    def _stub(self, name):
        """Make a library that only lends its name to be needed by."""
        folder = self.tools.folder / "stubs"
        folder.mkdir(exist_ok=True)
        target = folder / name.replace("/", "_")
        if not target.exists():
            made = target.with_name(f"{target.name}.{os.getpid()}")
            run("gcc", "-shared", "-nostdlib", "-x", "c", "-", f"-Wl,-soname,{self.text(name)}", "-o", str(made))
            made.rename(target)
        return str(target)

    # -- loads

    def open(self, name, mode=Mode.NOW, caller=None):
        words = ("open", str(int(mode))) if caller is None else ("from", self.text(caller), str(int(mode)))
        self.steps.append((*words, self.text(name)))

    def call(self, library, symbol):
        self.steps.append(("call", self.text(library), symbol))

    # -- what must come of it

    def loads(self, path, via=None):
        """Say that a file must be in the process at the end, and by which rule the model must have found it."""
        self.checks.append(("loads", self.text(path), self.text(via or "")))

    def loads_not(self, path):
        self.checks.append(("loads not", self.text(path), ""))

    def fails(self, text):
        """Say what the last error must be."""
        self.checks.append(("fails", self.text(text), ""))

    def verify(self):
        """Run both and compare."""
        real, stderr, code = self.real()
        model, process, outcomes = self.model()
        if process.started.failure is None:
            assert model == real, (stderr, outcomes)
            self._same_end(outcomes, stderr, code)
        else:
            assert (real, process.started.printed(self.binary)) == ([], unnumbered(stderr))
        errors = [step.error for step in real if step.error] + stderr.splitlines()[-1:]
        for kind, text, via in self.checks:
            if kind == "fails":
                assert text == errors[-1]
            else:
                assert (text in real[-1].mapped) is (kind == "loads")
            if via:
                assert next(str(one.found) for one in process.loaded if one.path == text) == via

    def _same_end(self, outcomes, stderr, code):
        last, printed = outcomes[-1], outcomes[0].printed(self.binary)
        if last.failure and last.failure.kind is Kind.ABORT:
            assert (code, unnumbered(stderr)) == (127, f"{printed}{last.failure.text}\n")
        elif last.failure and last.failure.kind is Kind.DAMAGED:
            assert code < 0
        elif self.steps and self.steps[-1][0] == "call":
            assert (code, stderr) == (127, f"{printed}{self.binary}: symbol lookup error: {last.unbound[0].text}\n")
        else:
            assert (code, stderr) == (0, printed)

    def real(self):
        words = [word for step in self.steps for word in step]
        environment = {name: self.text(value) for name, value in self.environment.items()}
        done = subprocess.run(
            [self.binary, *words], env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        return parse(done.stdout), done.stderr, done.returncode

    def model(self):
        environment = {name: self.text(value) for name, value in self.environment.items()}
        process = Process(self.binary, self.tools.runtime, Disk(), environment=environment, folder=str(self.folder))
        steps, outcomes = [_step(process, process.started)], [process.started]
        for words in self.steps:
            if words[0] == "call":
                break
            caller = words[1] if words[0] == "from" else None
            outcomes.append(process.dlopen(words[-1], Mode(int(words[-2])), caller))
            if outcomes[-1].failure and outcomes[-1].failure.kind in (Kind.ABORT, Kind.DAMAGED):
                break
            steps.append(_step(process, outcomes[-1]))
        return steps, process, outcomes


def parse(stdout):
    """Read what the driver printed."""
    steps: list[Step] = []
    for line in stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "map":
            if rest and "linux-vdso" not in rest and "/ld-linux" not in rest:
                steps[-1] = steps[-1]._replace(mapped=(*steps[-1].mapped, rest))
        else:
            steps.append(Step(rest if word == "error" else None, ()))
    return steps


def unnumbered(text):
    """Take the line out of the words of a failed assertion: it differs from release to release."""
    return re.sub(r"(: dl-[a-z]+\.c): \d+:", r"\1:", text)


def run(*words, text=""):
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _step(process, outcome):
    paths = [one.path for one in process.loaded[1:] if "/ld-linux" not in one.path]
    return Step(outcome.failure and outcome.failure.text, tuple(paths))
