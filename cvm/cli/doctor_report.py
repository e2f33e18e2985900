"""What `cvm doctor` tells a person, line by line: the verdict, the findings, and with -v all that was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from cvm.cli.doctor_findings import finding_lines, followers
from cvm.cli.doctor_headline import headline
from cvm.cli.doctor_tree import consumer_lines
from cvm.cli.output import spelt
from cvm.doctor.finding import ERROR, NOTE, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cvm.actions.doctor import Diagnosis
    from cvm.doctor.finding import Finding

    Paint = Callable[[str, str], str]

_COLOURS = {ERROR: "red", WARNING: "yellow", NOTE: "cyan", "unknown": "yellow", "ok": "green"}

# So many reasons are told of an unknown verdict without -v.
_REASONS = 5


class Line(NamedTuple):
    """A line, and the label before it with what it stands for: a severity, or a verdict."""

    text: str
    label: str = ""
    kind: str = ""

    def shown(self, paint: Paint) -> str:
        """Return the line as it is printed; control characters, as a file's name may have them, are spelt out."""
        text = spelt(self.text).replace("\n", "\\x0a").replace("\t", "\\x09")
        return f"{paint(self.label, _COLOURS[self.kind])} {text}" if self.label else text


def plain(text: str, colour: str) -> str:  # noqa: ARG001 - stands for `painted`
    """Leave a text without colour."""
    return text


def painted(text: str, colour: str) -> str:
    """Put a text in bold colour."""
    return click.style(text, fg=colour, bold=True)


def report(diagnoses: Sequence[Diagnosis], paint: Paint = plain, *, verbose: bool = False) -> list[str]:
    """Return the whole report; the first line of each target is its verdict."""
    lines: list[Line] = []
    for diagnosis in diagnoses:
        lines += [Line(""), *_target(diagnosis, verbose=verbose)]
    return [line.shown(paint) for line in lines[1:]]


def _target(diagnosis: Diagnosis, *, verbose: bool) -> Iterator[Line]:
    yield Line(headline(diagnosis), f"{diagnosis.verdict}:", diagnosis.verdict)
    grave = [one for one in diagnosis.findings if one.severity != NOTE]
    for finding in sorted(grave, key=lambda one: one.severity != ERROR):
        yield Line("")
        yield _titled(finding)
        yield from _plain_lines(finding_lines(finding))
    if verbose or not grave:
        yield from _notes(diagnosis.findings)
    yield from _plain_lines(_not_followed(diagnosis, verbose=verbose))
    if verbose:
        for consumer in diagnosis.consumers:
            yield Line("")
            yield from _plain_lines(consumer_lines(consumer))


def _titled(finding: Finding) -> Line:
    return Line(finding.summary, f"{finding.code} {finding.severity}:", finding.severity)


def _plain_lines(lines: Iterable[str]) -> Iterator[Line]:
    return (Line(text) for text in lines)


def _notes(findings: Sequence[Finding]) -> Iterator[Line]:
    notes = [other for one in findings if one.severity == NOTE for other in (one, *followers(one))]
    if notes:
        yield Line("")
    yield from map(_titled, notes)


def _not_followed(diagnosis: Diagnosis, *, verbose: bool) -> Iterator[str]:
    """Yield what could not be told; without -v only where that is the verdict, and not all of it."""
    if not diagnosis.unknown or not (verbose or diagnosis.verdict == "unknown"):
        return
    told = diagnosis.unknown if verbose else diagnosis.unknown[:_REASONS]
    yield ""
    yield "could not be followed:"
    yield from (f"  {sentence}" for sentence in told)
    if len(told) < len(diagnosis.unknown):
        yield f"  and {len(diagnosis.unknown) - len(told)} more, with -v"
