"""Writing to stdout, which is the answer, and complaining on stderr; either may be closed, full, or read by nobody."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cvm.errors import CvmError, DiskError

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1

# Control characters of both kinds, marks that turn the direction of writing, and halves of characters.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udc9f\udd00-\udfff]")


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


def spelt(text: str) -> str:
    """Spell out what would steer a terminal, as a file's name may, or what can't be written at all; lines stay."""
    return _STEERING.sub(lambda found: _spelt(ord(found[0])), text)


def _spelt(code: int) -> str:
    # A byte that is no text: Python puts it there.
    code = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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
        click.echo(f"{label if plain else click.style(label, fg=color, bold=True)} {spelt(text)}", err=True)


def leave_stdout() -> None:
    """Keep Python from writing what is left for a reader who is gone, at the very end and with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
