"""A file of `NAME=value` lines with whole values.

It is read alike by `set -a; . file` in sh, by python-dotenv and by `docker run --env-file`. Docker knows no
quotes and takes all after `=`: so a value stands bare where it can, and one that can't, as it holds a blank
or another character that means something to sh, is for the other readers alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Letters of any language need no quotes. zsh, which may be who sources it, expands a word after `=` or `:=`.
_BARE = re.compile(r"(?!=)(?!.*:=)[\w@%+=:,./-]*")

# No quotes keep python-dotenv from putting a variable in the place of `${`.
_LOST = {"\n": "a newline", "\r": "a carriage return", "${": "a ${"}


def render(values: Mapping[str, str]) -> str:
    """Write a line for each variable; raises UsageError for a value that its readers would not read alike."""
    return "".join(f"{name}={_quote(name, value)}\n" for name, value in values.items())


def _quote(name: str, value: str) -> str:
    for text, words in _LOST.items():
        if text in value:
            raise _unreadable(name, words)
    if _BARE.fullmatch(value):
        return value
    if "'" not in value and "\\\\" not in value and not value.endswith("\\"):
        return f"'{value}'"
    if "$" in value or "`" in value:
        raise _unreadable(name, "quotes or backslashes together with a $ or a `")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unreadable(name: str, words: str) -> UsageError:
    return UsageError(
        f"{name} holds {words}, which readers of a dotenv file do not read alike", hint="cvm env --shell sh"
    )
