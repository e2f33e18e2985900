"""What cvm says of an environment: one run of `cvm doctor --json`, and the part of it that is compared."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from truth.cells import Cell
    from truth.environments import Spec

_REPOSITORY = __file__.rpartition("/scripts/")[0]


@dataclass(frozen=True)
class Prediction:
    """What cvm expects: the last lines that a person would see, None for success, and the files that are loaded.

    `imported` are those after the import, `loaded` also those of the first use; in the order of loading.
    `broken` is why there is no answer: the command failed, or the environment seems to have no such package.
    """

    verdict: str
    codes: tuple[str, ...]
    error: str | None
    first_use_error: str | None
    imported: tuple[str, ...]
    loaded: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    broken: str | None = None


def predict(spec: Spec, cell: Cell, python: Path) -> Prediction:
    """Ask cvm about an environment, with the variables that the real process gets."""
    done = subprocess.run(
        [sys.executable, "-m", "cvm", "doctor", "--json", "--fail-on", "never", str(python)],
        env={**cell.variables, "PYTHONPATH": _REPOSITORY},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return prediction(json.loads(done.stdout), spec.consumer)
    except ValueError:
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return _none("?", f"no JSON: {lines[-1]}")


def prediction(document: Mapping[str, Any], name: str) -> Prediction:
    """Take what concerns a consumer out of the document."""
    if "consumers" not in document:
        return _none("?", f"no consumers: {document.get('error', document)}")
    consumer = next((one for one in document["consumers"] if one["name"] == name), None)
    if consumer is None:
        return _none(document["verdict"], f"no consumer {name}")
    paths = tuple(one["path"] for one in consumer["libraries"])
    return Prediction(
        verdict=document["verdict"],
        codes=tuple(one["code"] for one in document["findings"]),
        error=consumer["error"],
        first_use_error=consumer.get("first_use_error"),
        imported=paths[: consumer.get("imported", len(paths))],
        loaded=paths,
        unknown=tuple(document.get("unknown", ())),
    )


def _none(verdict: str, reason: str) -> Prediction:
    return Prediction(verdict, (), None, None, (), (), broken=reason)
