"""One finding as text: what a person would see, why, what to do about it, and what else follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cvm.doctor.finding import Finding

    Evidence = Mapping[str, str | tuple[str, ...]]

# In the order of the table; what isn't here follows under its own name.
_ROWS = {
    "symbol": "symbol",
    "needed_by": "needed by",
    "missing": "missing",
    "winner": "found",
    "found_via": "via",
    "wanted": "wanted",
    "compiled": "built for",
    "runtime": "runs with",
    "searched": "searched",
    "elsewhere": "there is",
    "culprit": "culprit",
}

_MANY = 8


def finding_lines(finding: Finding) -> Iterator[str]:
    """Yield what stands below a finding's summary."""
    yield from _section("what", _texts(finding.evidence.get("error", ())))
    yield from _section("why", _table(finding.evidence))
    yield from _section("fix", finding.hint)
    yield from _section("and so", [f"{one.code} {one.severity}: {one.summary}" for one in followers(finding)])


def followers(finding: Finding) -> Iterator[Finding]:
    """Yield what follows from a finding, and from that."""
    for one in finding.consequences:
        yield one
        yield from followers(one)


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}:"
        yield from (f"    {line}" for line in lines)


def _table(evidence: Evidence) -> list[str]:
    rows = list(_rows(evidence))
    width = max((len(label) for label, _ in rows), default=0)
    return [f"{label:{width}}  {text}" for label, text in rows]


def _rows(evidence: Evidence) -> Iterator[tuple[str, str]]:
    others = [name for name in evidence if name not in _ROWS and name != "error"]
    for name in (*_ROWS, *others):
        # What is to blame is said once.
        if name == "found_via" and evidence.get(name) == evidence.get("culprit"):
            continue
        label = _ROWS.get(name, name.replace("_", " "))
        for index, text in enumerate(_few(_texts(evidence.get(name, ())))):
            yield "" if index else label, text


def _few(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Leave the end of a long list out, as of the folders that were searched."""
    more = len(texts) - _MANY
    return texts if more <= 0 else (*texts[: _MANY - 1], f"and {more + 1} more, with --json")


def _texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
