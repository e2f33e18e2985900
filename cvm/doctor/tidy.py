"""Paths as a person would write them: the loader spells them as it came to them, `torch/lib/../../nvidia/…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.finding import Finding

# What the loader says stays as it says it: people search for it.
_VERBATIM = ("error",)


def tidy(finding: Finding, consumers: Iterable[Consumer]) -> Finding:
    """Return a finding that names the files of the consumers' libraries without detours."""
    detours = {path: file.real for one in consumers for path, file in one.libraries.items() if "/../" in path}
    return _tidied(finding, detours)


def _tidied(finding: Finding, detours: Mapping[str, str]) -> Finding:
    evidence = {
        name: value if name in _VERBATIM else _direct(value, detours) for name, value in finding.evidence.items()
    }
    summary = _text(finding.summary, detours)
    consequences = tuple(_tidied(one, detours) for one in finding.consequences)
    return finding._replace(summary=summary, evidence=evidence, consequences=consequences)


def _direct(value: str | tuple[str, ...], detours: Mapping[str, str]) -> str | tuple[str, ...]:
    return _text(value, detours) if isinstance(value, str) else tuple(_text(one, detours) for one in value)


def _text(text: str, detours: Mapping[str, str]) -> str:
    if "/../" in text:
        # The longest first: one path may be the beginning of another.
        for path in sorted(detours, key=len, reverse=True):
            text = text.replace(path, detours[path])
    return text
