from __future__ import annotations

from cvm.cli.progress import Notes
from cvm.fetch import Retrying


def test_a_failure_is_told_once_an_archive_however_they_alternate() -> None:
    told: list[str] = []
    notes = Notes({"a": "libcublas 1", "b": "libnpp 2"}, told.append)
    for sha256, reason in (
        ("a", "timed out"),
        ("b", "timed out"),
        ("a", "timed out"),
        ("b", "timed out"),
        ("a", "404"),
    ):
        notes(Retrying(sha256, reason))
    assert told == [
        "libcublas 1: timed out; trying again",
        "libnpp 2: timed out; trying again",
        "libcublas 1: 404; trying again",
    ]
