"""The table of precedence and of the file format, run against Python; `tests/shell/test_shim.py` runs it against sh."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cvm.errors import CvmError
from cvm.layout import Layout
from cvm.selected import selection

CASES = json.loads((Path(__file__).parents[1] / "data" / "selection.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_table_of_selections(case: dict[str, Any], tmp_path: Path) -> None:
    root, home, site = tmp_path / "root", tmp_path / "home", tmp_path / "site"
    for folder in (root / case["cwd"], home, site):
        folder.mkdir(parents=True)
    contents = {name: text.encode() for name, text in case.get("files", {}).items()}
    contents |= {name: bytes.fromhex(text) for name, text in case.get("files_hex", {}).items()}
    for name, data in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    for folder, text in ((home, case["global"]), (site, case["site_global"])):
        if text is not None:
            (folder / "global").write_text(text)
    environment = {} if case["variable"] is None else {"CVM_TOOLCHAIN": case["variable"]}
    where = {"root": str(root), "home": str(home), "site": str(site)}

    expected = {
        key: value.format(**where) if isinstance(value, str) else value for key, value in case["expect"].items()
    }
    assert outcome(Layout(home, site), environment, (root / case["cwd"]).resolve()) == expected


def outcome(layout: Layout, environment: dict[str, str], folder: Path) -> dict[str, Any]:
    try:
        found = selection(layout, environment, folder)
    except CvmError as error:
        return {"error": error.message, "exit": error.exit_code}
    return {"request": found.request, "origin": found.origin} if found else {"request": None}
