"""`cvm` as a person runs it: a process of its own, with an empty HOME and a home that is removed at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REPOSITORY = Path(__file__).parents[2]
_NOT_PASSED_ON = ("CVM_", "CUDA", "CUDNN", "NCCL", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "XDG_", "PYTHON")
# Nobody listens there: whoever asks the network fails at once.
_DEAD_PROXY = "http://127.0.0.1:9"
OFFLINE = {
    **{f"{kind}_PROXY": _DEAD_PROXY for kind in ("HTTP", "HTTPS", "ALL")},
    **{f"{kind}_proxy": _DEAD_PROXY for kind in ("http", "https", "all")},
    "NO_PROXY": "",
    "no_proxy": "",
}


@dataclass(frozen=True)
class Home:
    """A CVM_HOME, and what commands that use it see of the environment."""

    folder: Path
    environment: Mapping[str, str]

    def cvm(self, *arguments: str | Path, **environment: str) -> str:
        """Run a command that must succeed; returns its stdout."""
        command = [sys.executable, "-m", "cvm", *map(str, arguments)]
        return run(command, {**self.environment, **environment}, REPOSITORY)

    def install(self, *arguments: str | Path, **environment: str) -> dict[str, Any]:
        """Install one toolchain; returns what the command says of it in JSON."""
        (toolchain,) = json.loads(self.cvm("install", *arguments, "--json", **environment))["toolchains"]
        return toolchain

    def clear(self) -> None:
        """Uninstall everything, by cvm's own commands, and check that the disk is free again."""
        for toolchain in json.loads(self.cvm("list", "--json"))["toolchains"]:
            self.cvm("uninstall", toolchain["name"])
        self.cvm("prune")
        assert disk_bytes(self.folder) < 1_000_000, sorted(self.folder.rglob("*"))


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """Keep of this process's environment what reaches the network, and nothing that says where CUDA is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)}
    home.mkdir(parents=True, exist_ok=True)
    return {**kept, "HOME": str(home), "NO_COLOR": "1", "PYTHONPATH": str(REPOSITORY), **more}


def run(command: list[str], environment: Mapping[str, str], folder: Path) -> str:
    """Run a program that must succeed; returns its stdout, and fails with all that it said."""
    result = subprocess.run(
        command, env=dict(environment), cwd=folder, capture_output=True, text=True, check=False, timeout=500
    )
    assert result.returncode == 0, f"{' '.join(command)}: exit {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def disk_bytes(*folders: Path) -> int:
    """What `du` says: the blocks of every file, a hard-linked one counted once."""
    seen = {}
    for status in _files(*folders):
        seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values())


def file_bytes(*folders: Path) -> int:
    """The lengths of all files, added up."""
    return sum(status.st_size for status in _files(*folders))


def _files(*folders: Path) -> Iterator[os.stat_result]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path.lstat()
