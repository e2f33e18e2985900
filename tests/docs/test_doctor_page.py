"""What docs/doctor.md says of codes and of the JSON is held against the program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

from cvm.doctor.registry import titles

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text()


def test_every_code_is_in_the_table() -> None:
    rows = re.findall(r"^\| CVM\d{3} \|.*\n", PAGE, flags=re.MULTILINE)
    # In this order, and with these words: on a difference this is what to paste.
    assert "".join(rows) == "".join(f"| {code} | {meaning} |\n" for code, meaning in sorted(titles().items()))


def test_the_json_is_as_the_schema_says() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
    schema = json.loads((ROOT / "cvm" / "schemas" / "doctor.json").read_text())
    jsonschema.validate(json.loads(block), schema)
