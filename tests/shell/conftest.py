"""A home with tiny toolchains under a name that needs quotes, and shells that start with nothing but what is needed."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cvm.actions.integrate import integration
from cvm.cli.app import main
from cvm.layout import Layout
from tests.fakes.toolkit import cudnn, merged, nccl, write_tree
from tests.fakes.torch import make_torch, old_runtime
from tests.shell.shells import SHELLS, Shell, interactive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
WHOLE = "99.2-cudnn99.8.9-nccl2.18.3"

# Notes each start, so that a test can see that none happened.
_LAUNCHER = """\
#!{python}
import os, sys
sys.path.insert(0, os.fsdecode({root!r}))
with open({log!r}, "a") as log:
    print(*sys.argv[1:], file=log)
from cvm.__main__ import run
run()
"""


@dataclass(frozen=True)
class World:
    """99.1, 99.10, 99.2 with companions, and `site`, which is linked; `bin` has cvm and a Python without packages."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "cvm home"

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def shims(self) -> Path:
        return self.home / "shims"

    @property
    def log(self) -> Path:
        return self.root / "starts"

    @property
    def path(self) -> str:
        return f"{self.bin}:/usr/bin:/bin"

    def toolchain(self, name: str) -> Path:
        return self.home / "toolchains" / name

    def integration(self, kind: str) -> Path:
        """What `cvm init` prints, as the file that `cvm init --write` leaves."""
        return self.home / "shell" / kind

    def starts(self) -> list[str]:
        """The command lines of all starts of cvm so far."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def plain(self, text: str) -> str:
        """Replace the paths of this run, so that whole outputs can be compared."""
        for path, name in ((self.home, "$CVM"), (self.bin, "$BIN"), (self.root, "$ROOT")):
            text = text.replace(str(path), name)
        return text


def build(root: Path) -> World:
    """Make a world. It is built in this process, since it takes several commands."""
    world = World(root)
    world.bin.mkdir(parents=True)
    launcher = world.bin / "cvm"
    launcher.write_text(_LAUNCHER.format(python=sys.executable, root=os.fsencode(ROOT), log=os.fsencode(world.log)))
    launcher.chmod(0o755)
    (world.bin / "python3").write_bytes(b"\x7fELF")
    (world.bin / "python3").chmod(0o755)
    whole = {**merged("99.2.0"), **cudnn("99.8.9.25"), **nccl("2.18.3")}
    trees = {"99.1": merged("99.1.0"), "99.2": whole, "99.10": merged("99.10.0"), "site": merged("99.3.0")}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("CVM_")]:
            patch.delenv(name)
        patch.setenv("CVM_HOME", str(world.home))
        for name, members in trees.items():
            tree = write_tree(members, root / "trees" / name)
            command = ["link", name, tree] if name == "site" else ["install", name, "--from", tree]
            assert main([str(word) for word in command]) == 0
    world.integration("").mkdir()
    for kind in {shell.kind for shell in SHELLS}:
        text = integration(kind, (str(launcher),), Layout(world.home), unusual=True)
        world.integration(kind).write_text(text)
    return world


@dataclass(frozen=True)
class Result:
    """How a shell ended, what it printed, and the environments that it noted on the way."""

    code: int
    out: str
    err: str
    environments: Mapping[str, Mapping[str, str]]

    def environment(self, name: str) -> dict[str, str]:
        """An environment that was noted, without what each command changes and what cvm keeps for later."""
        noted = self.environments[name]
        return {key: value for key, value in noted.items() if key not in ("_", "SHLVL", "_CVM_PREVIOUS", "_CVM_AUTO")}


@dataclass(frozen=True)
class Session:
    """One kind of shell in a world; each run is a process of its own that starts in `folder`."""

    shell: Shell
    world: World
    folder: Path
    notes: Path

    def run(
        self,
        *lines: str,
        ready: bool = True,
        changes: Mapping[str, str | None] | None = None,
        flags: Sequence[str] = (),
        before: Sequence[str] = (),
    ) -> Result:
        """Run lines in the shell, in an environment with PATH, HOME, CVM_HOME and `changes` only.

        With `ready` it knows cvm from the start; `before` is put in front of the command line.
        """
        start = [self.shell.read(self.world.integration(self.shell.kind))] if ready else []
        script = "\n".join([*start, *lines])
        base = {"PATH": self.world.path, "HOME": str(self.folder), "CVM_HOME": str(self.world.home)}
        environment = {name: value for name, value in {**base, **(changes or {})}.items() if value is not None}
        program = [shutil.which(self.shell.program[0]) or "", *self.shell.program[1:]]
        done = subprocess.run(
            [*before, *program, *flags, "-c", script],
            env=environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        notes = {path.name: noted(path) for path in self.notes.iterdir()}
        return Result(
            done.returncode,
            self.world.plain(os.fsdecode(done.stdout)),
            self.world.plain(os.fsdecode(done.stderr)),
            notes,
        )

    def note(self, name: str) -> str:
        """Note the whole environment, byte for byte."""
        return f"/usr/bin/env -0 > {self.shell.quote(str(self.notes / name))}"


def noted(path: Path) -> dict[str, str]:
    """Read what `env -0` wrote."""
    pairs = (item.split("=", 1) for item in os.fsdecode(path.read_bytes()).split("\0") if item)
    return {pair[0]: pair[1] for pair in pairs}


_ESCAPES = re.compile(r"\x1b(\[[0-9;?<>=]*[A-Za-z]|\][^\x07]*\x07|[()].|.)")
_PATIENCE = 60
# Of these a shell keeps its own count; the last is for `use -`.
_OWN = ("_", "SHLVL", "PWD", "OLDPWD", "dirprev", "_CVM_PREVIOUS")


class Terminal:
    """A person at a shell: types lines, and sees what is written."""

    def __init__(
        self, here: Session, rc: str, changes: Mapping[str, str | None] | None = None, before: Sequence[str] = ()
    ) -> None:
        if shutil.which("setsid") is None:
            pytest.skip("setsid, which gives a shell its terminal, is not on this machine")
        self.here = here
        self._seen, self._count, self._starts = "", 0, len(here.world.starts())
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        variables = {
            "PATH": here.world.path,
            "HOME": str(here.folder),
            "CVM_HOME": str(here.world.home),
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            **(changes or {}),
        }
        environment = {name: value for name, value in variables.items() if value is not None}
        command = [*before, "setsid", "--ctty", *interactive(here.shell, here.folder, rc)]
        self._process = subprocess.Popen(
            command, env=environment, cwd=here.folder, stdin=slave, stdout=slave, stderr=slave, close_fds=True
        )
        os.close(slave)
        self.first = self.type()

    def type(self, *lines: str) -> dict[str, str]:
        """Type lines, each at a prompt of its own, and return the environment at the prompt after them."""
        self._count += 1
        note, part = self.here.notes / str(self._count), self.here.notes / "part"
        quote = self.here.shell.quote
        last = f"/usr/bin/env -0 > {quote(str(part))}; mv {quote(str(part))} {quote(str(note))}"
        for line in (*lines, last):
            os.write(self._master, os.fsencode(line) + b"\r")
        deadline = time.monotonic() + _PATIENCE
        while not note.exists():
            assert time.monotonic() < deadline, f"the shell does not answer: {self._seen}"
            self._look(0.02)
        self._look(0)
        return {name: value for name, value in noted(note).items() if name not in _OWN}

    def told(self, *also: str) -> list[str]:
        """The lines in which cvm's hook told something, or that hold one of `also`, since the last time this was asked."""
        plain = self.here.world.plain(_ESCAPES.sub("", self._seen))
        self._seen = ""
        return [
            line
            for line in re.split(r"[\r\n]+", plain)
            if line.startswith(("cvm: ", "error: ")) or any(text in line for text in also)
        ]

    def starts(self) -> list[str]:
        """The starts of cvm since the last time this was asked."""
        new = self.here.world.starts()[self._starts :]
        self._starts += len(new)
        return new

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _look(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            try:
                self._seen += os.read(self._master, 65536).decode(errors="replace")
            except OSError:  # The shell is gone.
                return
            seconds = 0


class Opened:
    """Opens terminals, and closes them when the test ends."""

    def __init__(self) -> None:
        self.terminals: list[Terminal] = []

    def __call__(
        self, here: Session, *rc: str, changes: Mapping[str, str | None] | None = None, before: Sequence[str] = ()
    ) -> Terminal:
        text = "\n".join(rc or [here.shell.read(here.world.integration(here.shell.kind))])
        self.terminals.append(Terminal(here, text, changes, before))
        return self.terminals[-1]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One that is only read; whoever changes it takes `own_home` instead."""
    return build(tmp_path_factory.mktemp("shells") / """it's "$HOME" [x]*""")


@pytest.fixture
def own_home(tmp_path: Path) -> World:
    return build(tmp_path / """it's "mine" $x""")


def python_with_torch(world: World, folder: Path) -> Path:
    """Make a virtual environment whose torch can't load with the libraries of 99.1 and 99.10, and return it."""
    for name in ("99.1", "99.10"):
        old_runtime(world.toolchain(name))
    return make_torch(folder / "venv").parent.parent


def session(shell: Shell, world: World, tmp_path: Path) -> Session:
    """Prepare one kind of shell; skips where this machine doesn't have it."""
    if shell.missing:
        pytest.skip(f"{shell.name} is not on this machine")
    folder, notes = tmp_path / "a folder", tmp_path / "notes"
    folder.mkdir(exist_ok=True)
    notes.mkdir(exist_ok=True)
    return Session(shell, world, folder, notes)


@pytest.fixture(params=SHELLS, ids=lambda shell: shell.name)
def sh(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Session:
    """Each shell."""
    return session(request.param, world, tmp_path)


@pytest.fixture(params=[shell for shell in SHELLS if shell.posix], ids=lambda shell: shell.name)
def posix(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Session:
    """Each shell that understands sh."""
    return session(request.param, world, tmp_path)


def powerless() -> list[str]:
    """What takes root's power to write anywhere."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root writes anywhere, and setpriv is not on this machine")
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


@pytest.fixture
def terminal() -> Iterator[Opened]:
    opened = Opened()
    yield opened
    for one in opened.terminals:
        one.close()
