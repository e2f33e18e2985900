"""Elements of LD_LIBRARY_PATH that aren't the folders which somebody meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.doctor.case_path import LOADER_TOKEN
from cvm.doctor.finding import NOTE, WARNING, Finding
from cvm.doctor.hints import drop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.doctor.case import Case, PathElement

CODES: Mapping[str, str] = {"CVM026": "LD_LIBRARY_PATH makes the loader look in the current folder, or nowhere"}

# What a shell would have replaced: the loader takes it as it is written.
_NOT_EXPANDED = re.compile(r"""\$[A-Za-z_{(]|^~|^["'`]|["'`]$|%\w+%""")


def check(case: Case) -> Iterator[Finding]:
    """Find elements that are empty, relative, or that no shell has expanded. Folders that don't exist are normal."""
    for one in case.path:
        if _is_not_expanded(one):
            summary = f"{one} was set without being expanded: the loader takes it for a folder's name"
            yield Finding("CVM026", NOTE, "", summary, {"culprit": str(one)}, _hint(case, one))
        elif not one.text.startswith("/") and not LOADER_TOKEN.match(one.text):
            yield _of_the_current_folder(case, one)


def _is_not_expanded(one: PathElement) -> bool:
    return one.folder is None and _NOT_EXPANDED.search(LOADER_TOKEN.sub("", one.text)) is not None


def _of_the_current_folder(case: Case, one: PathElement) -> Finding:
    kind = f"the relative element {one}" if one.text else f"the empty element {one}"
    looks = "looks below the current folder" if one.text else "looks in the current folder"
    summary = f"for {kind} of LD_LIBRARY_PATH the loader {looks}"
    evidence: dict[str, str | tuple[str, ...]] = {"culprit": str(one)}
    if one.cuda:
        summary += f", where {one.cuda[0]} lies right now"
        evidence["files"] = tuple(f"{one.folder}/{name}" for name in one.cuda)
    return Finding("CVM026", WARNING if one.cuda else NOTE, "", summary, evidence, _hint(case, one))


def _hint(case: Case, one: PathElement) -> tuple[str, ...]:
    line = drop(case, one.text)
    if one.text:
        return (line,)
    return (
        line,
        "# where it is set, append the old value only if there is one:",
        "# export LD_LIBRARY_PATH=/folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
    )
