"""A finding: what will happen, why, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)


class Finding(NamedTuple):
    """One fault with its cause.

    `code` is CVM and three digits, for good. `consumer` is whom it hits, "" for the whole environment.
    `summary` is one sentence; where the loader would complain, `evidence["error"]` is its text, word for word.
    `evidence` has those of these that are known: error, symbol, needed_by, winner, found_via, culprit, wanted, missing,
    compiled, runtime, and lists of paths as a tuple. `culprit` is the variable or file to blame, such as
    `LD_LIBRARY_PATH[0]=/opt/x/lib64`: findings with one culprit are one fault.
    `hint` are commands to paste, the least invasive first; a line that is no command starts with `# `.
    """

    code: str
    severity: str
    consumer: str
    summary: str
    evidence: Mapping[str, str | tuple[str, ...]]
    hint: tuple[str, ...] = ()
    consequences: tuple[Finding, ...] = ()


def verdict(findings: Sequence[Finding], unknown: Sequence[str]) -> str:
    """Sum up: `error`, `warning`, `unknown` or `ok`; a note is no reason to worry."""
    severities = {one.severity for one in findings}
    for severity in (ERROR, WARNING):
        if severity in severities:
            return severity
    return "unknown" if unknown else "ok"
