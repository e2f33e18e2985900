"""The two programs that load module files: as they are installed here, else as Debian packages them, unpacked."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOOLS = ("environment-modules", "lmod")

_INSTALLED = {
    "environment-modules": ("usr/lib/*/modulecmd.tcl", "usr/share/[Mm]odules/libexec/modulecmd.tcl"),
    "lmod": ("usr/share/lmod/lmod/libexec/lmod",),
}
_PACKAGES = {
    "environment-modules": ("environment-modules",),
    "lmod": ("lmod", "lua5.3", "lua-posix", "lua-filesystem", "lua-json", "lua-lpeg", "lua-term"),
}
_INTERPRETERS = {"environment-modules": "tclsh", "lmod": "lua5.3"}

# What the programs note in the environment for themselves.
_NOTES = ("LMOD", "__LMOD", "_ModuleTable", "__MODULES", "MODULES", "LOADEDMODULES", "_LMFILES_", "MODULEPATH")
_OTHERS = ("_modshare", "_", "PWD", "SHLVL")


class UnavailableError(Exception):
    """The program can't be had here; says why."""


@dataclass(frozen=True)
class Session:
    """What a sequence of module commands did: the environment after each, and what was said."""

    environments: tuple[dict[str, str], ...]
    said: str


@dataclass(frozen=True)
class ModuleTool:
    """A program that prints shell code for `module ...`."""

    name: str
    command: tuple[str, ...]

    def session(self, commands: Sequence[str], modules: Path, environment: Mapping[str, str]) -> Session:
        """Run commands in one bash, as the function `module` of both tools does, with the files below a folder."""
        tool = " ".join(f'"{word}"' for word in self.command)
        script = f'module() {{ eval "$({tool} bash "$@")"; }}\n'
        script += "".join(f"module {command}\n/usr/bin/env -0\nprintf '\\0'\n" for command in commands)
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            env={**environment, "MODULEPATH": str(modules)},
            capture_output=True,
            check=False,
        )
        dumps = os.fsdecode(done.stdout).split("\0\0")[:-1]
        assert len(dumps) == len(commands), done.stderr
        return Session(tuple(_variables(dump) for dump in dumps), os.fsdecode(done.stderr))


def module_tool(name: str, folder: Path) -> ModuleTool:
    """Find a program, or unpack it into a folder; raises UnavailableError."""
    if not shutil.which("tclsh"):
        raise UnavailableError("no tclsh, which runs module files")
    found = _program(name, Path("/")) or _unpacked(name, folder)
    interpreter = shutil.which(_INTERPRETERS[name]) or folder / "tree/usr/bin" / _INTERPRETERS[name]
    tool = ModuleTool(name, (str(interpreter), str(found)))
    _run([*tool.command, "bash", "--version"], Path("/"))
    return tool


def _variables(dump: str) -> dict[str, str]:
    pairs = [line.partition("=")[::2] for line in dump.split("\0") if line]
    return {name: value for name, value in pairs if not name.startswith(_NOTES) and not name.endswith(_OTHERS)}


def _program(name: str, root: Path) -> Path | None:
    return next((path for pattern in _INSTALLED[name] for path in sorted(root.glob(pattern))), None)


def _unpacked(name: str, folder: Path) -> Path:
    _download(_PACKAGES[name], folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg", "-x", str(package), str(folder / "tree")], folder)
    program = _program(name, folder / "tree")
    if program is None:
        raise UnavailableError(f"the package {name} has no program where it is looked for")
    if name == "lmod":
        _move(program, folder / "tree")
    return program


def _move(program: Path, tree: Path) -> None:
    """Let Lmod find its libraries, whose paths are written into it, below another root."""
    text = program.read_text()
    for path in ("/usr/share/lua/", "/usr/lib/"):
        text = text.replace(f";{path}", f";{tree}{path}")
    program.write_text(text)


def _download(packages: Sequence[str], folder: Path) -> None:
    """Ask apt, and if this machine has no package lists, with lists of our own: the machine's stay as they are."""
    try:
        _run(["apt-get", "download", *packages], folder)
    except UnavailableError:
        (folder / "state/lists/partial").mkdir(parents=True)
        (folder / "cache/archives/partial").mkdir(parents=True)
        own = ["-o", f"Dir::State={folder}/state", "-o", f"Dir::Cache={folder}/cache"]
        _run(["apt-get", *own, "update"], folder)
        _run(["apt-get", *own, "download", *packages], folder)


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise UnavailableError(f"no {command[0]} on PATH") from error
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"{' '.join(command)}: {error.stderr.strip()[-300:]}") from error
