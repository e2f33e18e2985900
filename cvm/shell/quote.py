"""Quoting: a value comes out of the shell as it went in, whatever bytes it has."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+", re.ASCII)


def quote_posix(text: str) -> str:
    """Quote a word for sh, dash, bash and zsh."""
    # zsh puts a program's path in the place of `=name`, at the start and after a colon.
    if _PLAIN.fullmatch(text) and ":=" not in f":{text}":
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def quote_fish(text: str) -> str:
    """Quote a word for fish, whose single quotes know two escapes."""
    if _PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
