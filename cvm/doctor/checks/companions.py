"""torchvision and torchaudio that were built for another torch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cvm.doctor.checks.user_site import way_out
from cvm.doctor.finding import ERROR, WARNING, Finding
from cvm.doctor.hints import pip
from cvm.doctor.installed import copies, origin, replace
from cvm.doctor.pins import fits, pinned, requirements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.requirements import Requirement

    from cvm.core.packages import Distribution, PythonEnvironment
    from cvm.doctor.case import Case

CODES: Mapping[str, str] = {"CVM023": "torch and a package that was built for it don't fit together"}

_COMPANIONS = ("torchvision", "torchaudio", "torchtext")
_CUDA_TAG = re.compile(r"\+cu(\d{1,2}?)(\d)\b")


class _Tag(NamedTuple):
    """What a local version says of CUDA: `+cu121`, or `+cpu` (no major)."""

    text: str
    major: str | None


def check(case: Case) -> Iterator[Finding]:
    """Find companions that require another torch, or are built for another CUDA; and a torch installed twice."""
    python = case.python
    torch = python.distribution("torch") if python else None
    if python is None or torch is None:
        return
    twice = tuple(_twice(python, torch))
    if twice:
        # With two records nobody can tell which torch the folder holds, nor what fits it.
        yield _installed_twice(case, torch, twice)
        return
    for name in _COMPANIONS:
        companion = python.distribution(name)
        if companion is not None:
            yield from _judge(case, python, torch, companion)


def _twice(python: PythonEnvironment, torch: Distribution) -> Iterator[Distribution]:
    for one in copies(python, "torch"):
        if one.folder == torch.folder and one.version != torch.version and "/conda-meta/" not in one.info:
            yield one


def _judge(case: Case, python: PythonEnvironment, torch: Distribution, companion: Distribution) -> Iterator[Finding]:
    requirement = requirements(case, companion).get("torch")
    if requirement is not None and pinned(requirement) is not None and not fits(requirement, torch.version):
        yield _other_torch(case, python, torch, companion, requirement)
        return
    ours, theirs = _tag(torch.version), _tag(companion.version)
    if ours and theirs and ours != theirs:
        yield _other_cuda(case, torch, companion, (ours, theirs))


def _other_torch(
    case: Case, python: PythonEnvironment, torch: Distribution, companion: Distribution, requirement: Requirement
) -> Finding:
    compiled = f"torch {pinned(requirement)}"
    summary = f"{companion} was built for {compiled}, and {torch} is installed"
    culprit = companion.info
    hint: tuple[str, ...] = (pip(case, "install", "--upgrade", companion.name, f"torch=={torch.version}"),)
    if any(fits(requirement, one.version) for one in copies(python, "torch")):
        # The right torch is there, and another one hides it.
        culprit = origin(python, torch.folder)
        hint = next((way_out(one) for one in python.search if one.path == torch.folder), ())
    loads = any(one.name == companion.name and one.load.error is None for one in case.consumers)
    evidence = {"compiled": compiled, "runtime": f"{torch} in {torch.folder}", "culprit": culprit}
    return Finding("CVM023", WARNING if loads else ERROR, companion.name, summary, evidence, hint)


def _tag(version: str) -> _Tag | None:
    found = _CUDA_TAG.search(version)
    if found:
        return _Tag(found[0], found[1])
    return _Tag("+cpu", None) if version.endswith("+cpu") else None


def _other_cuda(case: Case, torch: Distribution, companion: Distribution, tags: tuple[_Tag, _Tag]) -> Finding:
    ours, theirs = tags
    # torchvision refuses another major; a build for the CPU lacks the operators for the GPU only.
    severity = ERROR if theirs.major and ours.major != theirs.major else WARNING
    summary = f"{companion} and {torch} were built for different CUDA versions"
    evidence = {"compiled": theirs.text[1:], "runtime": ours.text[1:], "culprit": companion.info}
    wanted = f"{companion.name}=={companion.version.partition('+')[0]}{ours.text}"
    hint = (
        "# from the package index that torch came from (`--index-url`)",
        pip(case, "install", "--force-reinstall", "--no-deps", wanted),
    )
    return Finding("CVM023", severity, companion.name, summary, evidence, hint)


def _installed_twice(case: Case, torch: Distribution, others: tuple[Distribution, ...]) -> Finding:
    records = (torch, *others)
    summary = f"{torch.folder} has the records of {len(records)} torches: {', '.join(one.version for one in records)}"
    evidence: dict[str, str | tuple[str, ...]] = {"culprit": torch.info, "files": tuple(one.info for one in records)}
    # Each call of pip takes one record away.
    again = [pip(case, "uninstall", "-y", "torch")] * (len(records) - 1)
    line = " && ".join([*again, replace(case, ("torch",), f"torch=={_real_version(case, records)}")])
    where = "# the last step needs the package index that torch came from (`--index-url`)"
    return Finding("CVM023", WARNING, "torch", summary, evidence, (where, line))


def _real_version(case: Case, records: tuple[Distribution, ...]) -> str:
    """Return the version that torch says of itself, as its record puts it."""
    told = next((one.version for one in case.consumers if one.name == "torch"), None) or ""
    public = told.partition("+")[0]
    return next((one.version for one in records if one.version.partition("+")[0] == public), records[0].version)
