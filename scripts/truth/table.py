"""The confusion table, and what is behind each of its marks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from truth.compare import Comparison
    from truth.model import Prediction

LEGEND = """\
A cell has the import, then the first use as far as that takes no GPU: TP fails and was said to, TN works and was
said to, FP was said to fail, FN fails unforeseen; t other words, w other files, ! another disagreement."""

Row = dict[str, tuple["Comparison", "Prediction"]]


def table(rows: Mapping[str, Row], columns: Sequence[str]) -> str:
    """Return the table, with the totals below it."""
    lines = [("", *columns)]
    lines += [
        (name, *(str(row[column][0]) if column in row else "" for column in columns)) for name, row in rows.items()
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*text, "", totals(rows), LEGEND])


def totals(rows: Mapping[str, Row]) -> str:
    """Count the marks."""
    comparisons = [one for row in rows.values() for one, _ in row.values()]
    marks = [mark for one in comparisons for mark in one.marks]
    kinds = Counter(mark.verdict for mark in marks)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in ("TP", "TN", "FP", "FN"))
    texts, winners = sum(bool(one.text) for one in marks), sum(bool(one.winners) for one in marks)
    agree = sum(one.agrees for one in comparisons)
    others = sum(bool(one.others) for one in comparisons)
    return (
        f"{agree} of {len(comparisons)} cells agree; {counts}; other words {texts}, other files {winners}, "
        f"other disagreements {others}"
    )


def details(environment: str, cell: str, comparison: Comparison, prediction: Prediction) -> Iterable[str]:
    """Yield what differs in a cell, and what cvm found although everything works as far as a GPU isn't needed."""
    lines = [*comparison.others]
    lines += [f"{mark.phase}, {line}" for mark in comparison.marks for line in (*mark.text, *mark.winners)]
    fine = all(mark.verdict == "TN" for mark in comparison.marks)
    if fine and prediction.verdict == "error":
        lines.append(f"note: works without a GPU, and the verdict is error: {', '.join(prediction.codes)}")
    yield from (f"{environment} {cell}: {line}" for line in lines)
