"""Every command line that the documentation shows is one that cvm understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from cvm.cli.app import COMMANDS, cli

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
# `cvm` as the word of a command, up to what ends it in a shell or a comment.
_SHOWN = re.compile(r"(?:^|[`&|;=] ?|\$\(|\$ |RUN |run: |-- )cvm ((?:(?!&&|  )[^`|)\n#;>…])+)", re.MULTILINE)


def shown() -> list[str]:
    pages = [code for page in PAGES for code in _CODE.findall(page.read_text())]
    helps = [re.sub("^ +", "", command.epilog or "", flags=re.MULTILINE) for command in map(get, COMMANDS)]
    return sorted({line.strip() for text in (*pages, *helps) for line in _SHOWN.findall(text)})


def get(name: str) -> click.Command:
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    return command


@pytest.mark.parametrize("line", shown())
def test_every_command_line_is_understood(line: str) -> None:
    name, *arguments = shlex.split(line)
    if not name.startswith("-"):
        understood(get(name), arguments)


def understood(command: click.Command, arguments: list[str]) -> None:
    if isinstance(command, click.Group):
        understood(command.commands[arguments[0]], arguments[1:])
        return
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    assert {word.split("=")[0] for word in own if word.startswith("--")} <= known


def test_the_pages_show_many() -> None:
    assert len(shown()) > 40
