"""Writing to stdout, which is the answer, and complaining on stderr; either may be closed, full, or read by nobody."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cvm.errors import CvmError, DiskError

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1


class ReaderGoneError(CvmError):
    """Nobody reads the answer any more, as in `cvm list-remote | head`: no failure of ours."""


def answer(text: str) -> None:
    """Print the answer of a command on stdout; paths come out as the bytes they are, whatever the locale.

    Raises DiskError where stdout can't be written, ReaderGoneError where its reader left.
    """
    try:
        click.echo(os.fsencode(text))
    except BrokenPipeError as error:
        raise ReaderGoneError("nobody reads the answer") from error
    except OSError as error:
        raise DiskError(f"stdout can't be written: {str(error.strerror).lower()}", hint="write it elsewhere") from error


def answer_json(command: str, **data: Any) -> None:
    """Print the one JSON document of a command; `cvm/schemas/<command>.json` describes it."""
    answer(json.dumps({"schema": SCHEMA, "command": command, "status": "ok", **data}, indent=2))


def answer_json_error(error: Mapping[str, Any]) -> None:
    """Print the JSON document of a failure."""
    answer(json.dumps({"schema": SCHEMA, "status": "error", "error": dict(error)}, indent=2))


def complain(label: str, text: str, color: str, environment: Mapping[str, str]) -> None:
    """Print one line on stderr; the label is coloured on a terminal that wants it."""
    plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    with suppress(OSError):
        click.echo(f"{label if plain else click.style(label, fg=color, bold=True)} {text}", err=True)


def leave_stdout() -> None:
    """Keep Python from writing what is left for a reader who is gone, at the very end and with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
