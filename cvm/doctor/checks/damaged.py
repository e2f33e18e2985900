"""A file that is no library, where the loader expects one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.cause import claimed
from cvm.doctor.evidence import fails, of_trouble
from cvm.doctor.family import base
from cvm.doctor.finding import Finding
from cvm.doctor.hints import drop, prove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case, PathElement
    from cvm.doctor.trouble import Trouble

CODES = {"CVM013": "a file is no library that can be loaded"}

_ADVICE = {
    "file too short": "# it is empty or was cut off: install again what it belongs to",
    "invalid ELF header": "# it is a text file, as pointers of Git LFS and linker scripts are: see its first lines",
}


def check(case: Case) -> Iterator[Finding]:
    """Find files that end the search of the loader: too short, cut off, or no ELF file at all."""
    for trouble in claimed(case, "CVM013"):
        path, _, reason = trouble.error.partition(": ")
        element = _element(case, trouble, path)
        evidence = {**of_trouble(trouble, cause=str(element) if element else path), "winner": path}
        evidence |= {"found_via": str(element)} if element else {}
        summary = f"{fails(trouble)}: {path}{' of LD_LIBRARY_PATH' if element else ''} can't be loaded ({reason})"
        hint = _hint(case, trouble, element, reason)
        yield Finding("CVM013", trouble.severity, trouble.consumer.name, summary, evidence, hint)


def _element(case: Case, trouble: Trouble, path: str) -> PathElement | None:
    """Return the element of LD_LIBRARY_PATH that leads to the file; none where such a file is met without it, too."""
    failed = trouble.consumer.clean.failed
    text = failed.outcome.failure.text if failed and failed.outcome.failure else ""
    if base(text.partition(": ")[0]) == base(path):
        return None
    folders = ((one, one.text.rstrip("/") + "/") for one in case.path)
    return next((one for one, folder in folders if path.startswith(folder)), None)


def _hint(case: Case, trouble: Trouble, element: PathElement | None, reason: str) -> tuple[str, ...]:
    advice = tuple(text for start, text in _ADVICE.items() if reason.startswith(start))
    if element is None:
        return advice
    shown = () if trouble.later else prove(case, trouble.consumer)
    return (*shown, drop(case, element.text), *advice)
