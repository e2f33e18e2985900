"""Commands in processes of their own: for signals, for several at once, and for what a terminal or shell does to them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.functional.conftest import World

ROOT = Path(__file__).resolve().parents[2]

# As `python -m cvm`, on the platform that the fake server has archives for.
_START = """\
import os, runpy, sys
uname = os.uname_result(("Linux", *os.uname()[1:4], "x86_64"))
os.uname = lambda: uname
{script}
runpy.run_module("cvm", run_name="__main__", alter_sys=True)
"""


def command(*arguments: str, script: str = "") -> list[str]:
    """A command line that runs cvm; `script` is Python that changes something of it first."""
    return [sys.executable, "-c", _START.format(script=script), *arguments]


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The environment of the test, with changes; None takes a variable away."""
    merged = {**os.environ, "PYTHONPATH": str(ROOT), **(changes or {})}
    return {name: value for name, value in merged.items() if value is not None}


def start(*arguments: str, script: str = "", env: Mapping[str, str | None] | None = None) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        command(*arguments, script=script),
        env=environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogateescape",
        start_new_session=True,
    )


def finish(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a command and say how it went."""
    out, err = running.communicate(timeout=30)
    return running.returncode, out, err


def run(*arguments: str, script: str = "", env: Mapping[str, str | None] | None = None) -> tuple[int, str, str]:
    """Run a command to its end."""
    return finish(start(*arguments, script=script, env=env))


def assert_nothing_half(world: World, *names: str) -> None:
    """Check that exactly these toolchains are there, whole, and that nothing is left beside them."""
    assert world.leftovers() == []
    folder = world.home / "toolchains"
    assert sorted(path.name for path in folder.iterdir()) == sorted(names) if folder.exists() else not names
    listed = [line.split()[0] for line in world.ok("list").out.splitlines()]
    assert sorted(listed) == sorted(names)
    assert world.run("verify").code == 0
