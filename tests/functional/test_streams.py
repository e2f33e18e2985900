"""Locales that can't spell a path, and streams that are closed, full, or read by nobody."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.functional.processes import assert_nothing_half, command, environment, run
from tests.functional.releases import moved

if TYPE_CHECKING:
    from pathlib import Path

    from tests.functional.conftest import World

LOCALES = {
    "C": {"LC_ALL": "C"},
    "no UTF-8 at all": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII output": {"PYTHONIOENCODING": "ascii"},
}


@pytest.mark.parametrize("locale", LOCALES)
def test_paths_come_out_as_they_are_in_any_locale(world: World, tmp_path: Path, locale: str) -> None:
    home = moved(world, tmp_path / ("ünï" + os.fsdecode(b"\xff"))).home
    code, out, err = run("install", "99.1", env=LOCALES[locale])
    assert (code, out) == (0, f"installed 99.1.1 at {home}/toolchains/99.1.1\n"), err


def shell(line: str, *arguments: str) -> tuple[int, str]:
    """Run a command in a shell that does something to its streams: `"$@"` stands for the command."""
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command(*arguments)], check=False, env=environment(), capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_an_answer_that_nobody_reads_is_no_failure(world: World) -> None:
    code, said = shell('{ "$@"; echo $? >&2; } | { exec <&-; sleep 1; }', "list-remote", "--json")
    assert (code, said) == (0, "0\n")
    code, said = shell('"$@" | head -n 1', "list-remote")
    assert (code, said.splitlines()[0].split()[0]) == (0, "11.4.2")


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing(world: World, closed: str) -> None:
    assert shell(f'"$@" {closed}', "install", "99.1")[0] == 0
    assert_nothing_half(world, "99.1.1")


def test_full_streams(world: World) -> None:
    assert shell('"$@" 2>/dev/full', "install", "99.1")[0] == 0
    assert shell('"$@" >/dev/full', "list") == (
        8,
        "error: stdout can't be written: no space left on device\nhint: write it elsewhere\n",
    )
