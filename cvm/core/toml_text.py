"""Values as TOML text: what cvm's own files need, always spelled the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")

TomlValue = str | int | Sequence["TomlValue"] | Mapping[str, "TomlValue"]


def toml_value(value: TomlValue) -> str:
    """Spell a value in one line; tables become inline tables, and keep the order of their keys."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return f"[{', '.join(map(toml_value, value))}]"


def toml_key(key: str) -> str:
    """Spell a key, quoted where it must be."""
    return key if _BARE.fullmatch(key) else _string(key)


def toml_rows(name: str, rows: Sequence[TomlValue]) -> str:
    """Spell an array with one value a line."""
    lines = "".join(f"  {toml_value(row)},\n" for row in rows)
    return f"{toml_key(name)} = [\n{lines}]\n" if rows else f"{toml_key(name)} = []\n"


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
