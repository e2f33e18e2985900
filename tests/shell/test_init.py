"""`cvm init`: the line in the rc file, and that a new shell then knows cvm."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.shell.conftest import Opened, World, powerless, session
from tests.shell.shells import BASH, DASH, FISH, SHELLS, ZSH, Shell

if TYPE_CHECKING:
    from pathlib import Path

RC = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish", "sh": ".profile"}
KINDS = tuple(RC)
NVCC = "Cuda compilation tools, release 99.1, V99.1.100\n"


@dataclass(frozen=True)
class Person:
    """Somebody with a fresh home, in which only cvm is new."""

    world: World
    home: Path
    cvm_home: Path

    def init(self, *words: str, before: tuple[str, ...] = (), **changes: str | None) -> tuple[str, str, int]:
        """Run `cvm init`, and return its stdout, stderr and exit code."""
        base = {"PATH": self.world.path, "HOME": str(self.home), "CVM_HOME": str(self.cvm_home)}
        variables = {name: value for name, value in {**base, **changes}.items() if value is not None}
        command = [*before, str(self.world.bin / "cvm"), "init", *words]
        done = subprocess.run(command, env=variables, capture_output=True, timeout=60, check=False)
        return os.fsdecode(done.stdout), os.fsdecode(done.stderr), done.returncode

    def line(self, kind: str) -> str:
        """The line for the rc file, as a person would write it."""
        word = (FISH if kind == "fish" else BASH).quote(str(self.cvm_home / "shell" / kind)).replace("'\"'\"'", "'\\''")
        return (
            f"test -r {word}; and source {word} # cvm"
            if kind == "fish"
            else f"if [ -r {word} ]; then . {word}; fi # cvm"
        )

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.home.parent)): path.read_bytes()
            for path in self.home.parent.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def person(world: World, tmp_path: Path) -> Person:
    home = tmp_path / "person" / """h o'me "$x" """.strip()
    home.mkdir(parents=True)
    return Person(world, home, home.parent / "cvm's home")


def added(person: Person, kind: str, rc: Path, would: str = "") -> str:
    written = person.cvm_home / "shell" / kind
    return f"{written} {would}written\n{rc} {would}given the line: {person.line(kind)}\n"


@pytest.mark.parametrize("kind", KINDS)
def test_write_adds_one_line_once(person: Person, kind: str) -> None:
    rc = person.home / RC[kind]
    rc.parent.mkdir(parents=True, exist_ok=True)
    rc.write_bytes(b"# no newline at the end, and no UTF-8: \xff")
    out, err, code = person.init(kind, "--write", "--dry-run")
    assert (out, code) == (added(person, kind, rc, "would be "), 0)
    assert len(person.files()) == 1

    out, err, code = person.init(kind, "--write")
    assert (out, code) == (added(person, kind, rc), 0)
    assert err == "new shells know cvm; for this one, start another or read that file again\n"
    content = b"# no newline at the end, and no UTF-8: \xff\n" + person.line(kind).encode() + b"\n"
    assert rc.read_bytes() == content

    before = person.files()
    said = f"{person.cvm_home}/shell/{kind} written\n{rc} has its line already\n"
    assert person.init(kind, "--write") == (said, "", 0)
    assert person.files() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_linked_rc_file_stays_a_link(person: Person, kind: str) -> None:
    rc, real = person.home / RC[kind], person.home / "dotfiles"
    rc.parent.mkdir(parents=True, exist_ok=True)
    real.write_text("# mine\n")
    real.chmod(0o640)
    rc.symlink_to(real)
    assert person.init(kind, "--write")[2] == 0
    assert (rc.readlink(), real.stat().st_mode & 0o777) == (real, 0o640)
    assert real.read_text() == f"# mine\n{person.line(kind)}\n"


@pytest.mark.parametrize("kind", KINDS)
def test_an_rc_file_that_cannot_be_written_is_left_alone(person: Person, kind: str) -> None:
    rc = person.home / RC[kind]
    rc.parent.mkdir(parents=True, exist_ok=True)
    rc.write_text("# mine\n")
    rc.chmod(0o444)
    out, err, code = person.init(kind, "--write", before=tuple(powerless()))
    assert (out, code, rc.read_text()) == ("", 8, "# mine\n")
    message, hint = err.splitlines()
    assert message == f"error: {rc} can't be written: permission denied"
    assert hint == f"hint: add this line to it: {person.line(kind)}"


@pytest.mark.parametrize(("kind", "variable", "name"), [("zsh", "ZDOTDIR", ".zshrc"), ("fish", "XDG_CONFIG_HOME", "fish/config.fish")])  # fmt: skip
def test_the_shells_own_variable_says_where(person: Person, kind: str, variable: str, name: str) -> None:
    folder = person.home / "somewhere else"
    out, _, code = person.init(kind, "--write", **{variable: str(folder)})
    assert (out, code) == (added(person, kind, folder / name), 0)
    assert (folder / name).read_text() == person.line(kind) + "\n"


def test_without_home_there_is_no_rc_file(person: Person) -> None:
    out, err, code = person.init("bash", "--write", HOME=None)
    assert (out, code, person.files()) == ("", 2, {})
    assert err == "error: HOME is not set: there is no rc file to write\nhint: evaluate `cvm init` where you need it\n"
    assert person.init("bash", HOME=None)[1:] == ("", 0)


def test_options_that_do_not_go_together(person: Person) -> None:
    assert person.init("bash", "--dry-run") == ("", "error: --dry-run goes with --write\nhint: cvm init --write --dry-run\n", 2)  # fmt: skip
    assert person.init("csh")[2] == 2


@pytest.mark.parametrize("shell", [BASH, ZSH, FISH], ids=lambda shell: shell.name)
def test_a_new_shell_knows_cvm(shell: Shell, own_home: World, tmp_path: Path, terminal: Opened) -> None:
    here = session(shell, own_home, tmp_path)
    at = Person(own_home, here.folder, own_home.home)
    assert at.init(shell.kind, "--write")[2] == 0
    text = (here.folder / RC[shell.kind]).read_text()
    # Neither cvm is on PATH nor is its home named: the integration knows where both are.
    someone = terminal(here, text.rstrip("\n"), changes={"PATH": "/usr/bin:/bin", "CVM_HOME": None})
    used = someone.type("cvm use --ld-library-path always 99.1")
    assert used["PATH"] == f"{own_home.toolchain('99.1')}/bin:{own_home.shims}:/usr/bin:/bin"
    assert someone.type("cvm unuse") == someone.first


def test_a_new_login_of_sh_knows_cvm(own_home: World, tmp_path: Path) -> None:
    here = session(DASH, own_home, tmp_path)
    assert Person(own_home, here.folder, own_home.home).init("sh", "--write")[2] == 0
    done = here.run("cvm use 99.1; nvcc", ready=False, flags=("-l",))
    assert done.out == NVCC


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)
@pytest.mark.parametrize("variable", [None, "/usr/bin/fish", "/opt/csh"])
def test_the_calling_shell_is_known_without_a_name(
    shell: Shell, variable: str | None, world: World, tmp_path: Path
) -> None:
    here = session(shell, world, tmp_path)
    done = here.run("command cvm init; true", ready=False, changes={"SHELL": variable})
    assert done.out == world.plain(world.integration(shell.kind).read_text())
