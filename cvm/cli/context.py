"""What every command gets: where things are, and how to answer."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cvm.cli.output import answer, answer_json, spelt
from cvm.core.size import human_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.layout import Layout

__all__ = ["Context", "answer", "answer_json", "human_size", "json_option", "pass_context", "real_environment"]


@dataclass(frozen=True)
class Context:
    """The world of one call, built once in `app` and passed down."""

    layout: Layout
    environment: Mapping[str, str]
    quiet: bool = False

    @cached_property
    def folder(self) -> Path | None:
        """The folder that the person is in, or None when it is gone."""
        from cvm.selected import current_folder

        return current_folder(self.environment)

    @property
    def shell(self) -> str | None:
        """The shell that evaluates the answer of `use`, where its integration made the call."""
        return self.environment.get("_CVM_SHELL")

    def talk(self, text: str) -> None:
        """Tell the person something: on stderr, since stdout is the answer."""
        if not self.quiet:
            with suppress(OSError):
                click.echo(spelt(text), err=True)

    @property
    def moves(self) -> bool:
        """Whether progress may move on stderr."""
        terminal = sys.stderr is not None and sys.stderr.isatty()
        return terminal and not self.quiet and self.environment.get("TERM") != "dumb"


pass_context = click.make_pass_decorator(Context)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def real_environment() -> dict[str, str]:
    """Read the environment: here and nowhere below."""
    environment = dict(os.environ)
    if environment.get("LC_CTYPE") == "C.UTF-8" and not _was_given(b"LC_CTYPE"):
        # Python sets it for itself where no locale is set: what it starts is not to see it.
        del environment["LC_CTYPE"]
    return environment


def _was_given(name: bytes) -> bool:
    try:
        given = Path("/proc/self/environ").read_bytes()
    except OSError:
        return True
    return any(entry.startswith(name + b"=") for entry in given.split(b"\0"))
