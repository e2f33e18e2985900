"""Library files that another package has overwritten, or taken along when it was uninstalled; pip is blind to both."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from cvm.doctor.finding import ERROR, WARNING, Finding
from cvm.doctor.hints import pip
from cvm.doctor.installed import is_doubtful, reached, replace
from cvm.doctor.pins import is_library, is_variant, library_name, pinned, requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from packaging.requirements import Requirement

    from cvm.consumers.consumer import Consumer
    from cvm.core.packages import Distribution, SharedFile
    from cvm.doctor.case import Case

CODES: Mapping[str, str] = {"CVM020": "a library of a package was overwritten or removed by another package"}

# Of more files than these the rest is counted, not named.
_NAMED = 5


class _Harm(NamedTuple):
    """Files of one package that are another's by now (`holder`), nobody's (None), or gone."""

    owner: Distribution
    holder: Distribution | None
    there: bool
    files: tuple[str, ...]

    @property
    def names(self) -> str:
        names = sorted({posixpath.basename(path) for path in self.files})
        more = len(names) - _NAMED
        return ", ".join(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {more} more"


def check(case: Case) -> Iterator[Finding]:
    """Find files that aren't those of the package that a consumer requires."""
    told: set[str] = set()
    for consumer in case.consumers:
        needs = requirements(case, consumer.distribution)
        for harm in (*_overwritten(case, needs), *_lost(case, consumer, needs)):
            told.update(harm.files)
            yield _for_consumer(case, consumer, harm, needs.get(harm.owner.name))
    for harm in _of_nobody(case, told):
        yield _finding(case, harm, WARNING, None, None)


# -- what is wrong


def _overwritten(case: Case, needs: Mapping[str, Requirement]) -> Iterator[_Harm]:
    """Group the files that should be a required package's, and whose bytes are not a required package's."""
    shared = []
    for one in filter(_is_library, case.shared):
        wanted = next((owner for owner in one.owners if owner.name in needs), None)
        if wanted is not None and (one.holder is None or one.holder.name not in needs):
            shared.append((wanted, one))
    yield from _grouped(shared)


def _lost(case: Case, consumer: Consumer, needs: Mapping[str, Requirement]) -> Iterator[_Harm]:
    shared = {one.path for one in case.shared}
    files: dict[Distribution, list[str]] = {}
    for one in case.lost:
        if one.path not in shared:
            files.setdefault(one.owner, []).append(one.path)
    for owner, paths in files.items():
        if _is_used(case, consumer, needs, owner):
            yield _Harm(owner, None, there=False, files=tuple(paths))


def _is_used(case: Case, consumer: Consumer, needs: Mapping[str, Requirement], owner: Distribution) -> bool:
    own = consumer.distribution
    if own is None or case.python is None or is_doubtful(case.python, owner):
        return False
    return owner == own or (owner.name in needs and reached(case.python, own, owner.name) == owner)


def _of_nobody(case: Case, told: set[str]) -> Iterator[_Harm]:
    """Find harm among CUDA packages that no consumer is known to require."""
    shared = []
    # A file that a consumer requires and that is right is no harm to the package that it isn't of.
    named = {name for one in case.consumers for name in requirements(case, one.distribution)}
    for one in filter(_is_library, case.shared):
        loser = next((owner for owner in one.owners if one.holder is None or owner.name != one.holder.name), None)
        if loser and _are_variants(one.owners) and not named & {o.name for o in one.owners}:
            shared.append((loser, one))
    yield from _grouped(shared)
    known = {one.path for one in case.shared} | told
    files: dict[Distribution, list[str]] = {}
    for lost in case.lost:
        doubtful = case.python is not None and is_doubtful(case.python, lost.owner)
        if lost.path not in known and is_library(lost.owner.name) and not doubtful:
            files.setdefault(lost.owner, []).append(lost.path)
    for owner, paths in files.items():
        yield _Harm(owner, None, there=False, files=tuple(paths))


def _grouped(shared: Iterable[tuple[Distribution, SharedFile]]) -> Iterator[_Harm]:
    files: dict[tuple[Distribution, Distribution | None, bool], list[str]] = {}
    for owner, one in shared:
        files.setdefault((owner, one.holder, one.there), []).append(one.path)
    for (owner, holder, there), paths in files.items():
        yield _Harm(owner, holder, there, tuple(paths))


def _is_library(one: SharedFile) -> bool:
    # All of NVIDIA's wheels bring the same `nvidia/__init__.py`.
    name = posixpath.basename(one.path)
    return name.endswith(".so") or ".so." in name


def _are_variants(owners: Iterable[Distribution]) -> bool:
    """Whether packages are one library for several CUDA versions, and not, say, two flavours of OpenCV."""
    names = [one.name for one in owners]
    return len(set(map(library_name, names))) < len(set(names))


# -- what to say


def _for_consumer(case: Case, consumer: Consumer, harm: _Harm, requirement: Requirement | None) -> Finding:
    severity = ERROR
    if harm.there and harm.holder is None:
        # Somebody changed the file itself, as one who strips libraries does; it may well work.
        severity = WARNING
    if requirement is None and consumer.load.error is None:
        severity = WARNING
    return _finding(case, harm, severity, consumer, requirement)


def _finding(
    case: Case, harm: _Harm, severity: str, consumer: Consumer | None, requirement: Requirement | None
) -> Finding:
    evidence: dict[str, str | tuple[str, ...]] = {
        "culprit": harm.files[0],
        "wanted": str(harm.owner),
        "files": harm.files,
    }
    if harm.holder:
        evidence["winner"] = str(harm.holder)
    if not harm.there:
        evidence["missing"] = harm.names
    summary = _summary(harm, consumer)
    return Finding(
        "CVM020", severity, consumer.name if consumer else "", summary, evidence, _hint(case, harm, requirement)
    )


def _summary(harm: _Harm, consumer: Consumer | None) -> str:
    requires = f", which {consumer} requires" if consumer and consumer.distribution != harm.owner else ""
    if not harm.there:
        return f"{harm.names} of {harm.owner}{requires}, {'is' if len(harm.files) == 1 else 'are'} gone"
    if harm.holder is None:
        return f"{harm.names} is not the file that {harm.owner} installed{requires}"
    return f"{harm.holder} has overwritten {harm.names} of {harm.owner}{requires}"


def _hint(case: Case, harm: _Harm, requirement: Requirement | None) -> tuple[str, ...]:
    version = (requirement and pinned(requirement)) or harm.owner.version
    back = f"{harm.owner.name}=={version}"
    out = _variants(case, harm)
    others = [one for name in out for one in _requirers(case, name, harm.owner.name)]
    if others:
        # To take the other variant away would only move the damage.
        return (
            f"# {', '.join(others)}: give these an environment of their own, only one variant can have the files",
            pip(case, "install", "--force-reinstall", "--no-deps", back),
        )
    return (replace(case, out, "--no-deps", back),)


def _variants(case: Case, harm: _Harm) -> list[str]:
    """Name all installed variants of a library: to uninstall one removes the files of all."""
    base = library_name(harm.owner.name)
    installed = case.python.distributions if case.python else ()
    same = {one.name for one in installed if library_name(one.name) == base and is_variant(one.name)}
    shared = {o.name for one in case.shared if one.path in harm.files for o in one.owners}
    return sorted(same | shared | {harm.owner.name})


def _requirers(case: Case, name: str, wanted: str) -> Iterator[str]:
    """Name who requires a package and not the one that is wanted."""
    for one in case.python.distributions if case.python else ():
        needs = requirements(case, one)
        if name in needs and wanted not in needs:
            yield f"{one} requires {name}"
