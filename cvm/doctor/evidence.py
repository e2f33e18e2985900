"""The facts behind a finding, and how a sentence names a file and its like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.doctor.blame import bringer, culprit
from cvm.doctor.family import base, is_cuda
from cvm.doctor.finding import ERROR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.consumer import Consumer, LibraryFile
    from cvm.doctor.trouble import Trouble
    from cvm.elf.outcome import Loaded

_RELEASE = re.compile(r"(\d+\.\d+)\.")


def facts(**known: str | tuple[str, ...] | None) -> Mapping[str, str | tuple[str, ...]]:
    """Return what is known, in this order."""
    return {name: value for name, value in known.items() if value}


def of_trouble(trouble: Trouble, *, cause: str | None = None) -> Mapping[str, str | tuple[str, ...]]:
    """Return what is known of something that goes wrong; `cause` names the culprit where no loaded file does."""
    winner, blamed = trouble.winner, trouble.blamed
    return facts(
        error=trouble.error,
        symbol=trouble.symbol or trouble.version,
        missing=trouble.missing.name if trouble.missing else None,
        needed_by=trouble.needy,
        winner=winner.path if winner else None,
        found_via=via(winner) if winner else None,
        culprit=cause or (culprit(blamed.file) if blamed else None),
        wanted=blamed.wanted if blamed else None,
        searched=_searched(trouble),
        elsewhere=trouble.elsewhere,
    )


def via(one: Loaded) -> str:
    """Say by which rule a library was found."""
    return str(one.found)


def fails(trouble: Trouble) -> str:
    """Say in a few words what doesn't work: the beginning of a summary."""
    of = f" of {_opened(trouble)}" if trouble.step else ""
    if trouble.step and trouble.step.handled and trouble.severity != ERROR:
        return f"{trouble.consumer} goes on without {_opened(trouble)}"
    if trouble.later:
        return f"{trouble.consumer} fails at the first use{of}"
    return (
        f"{trouble.consumer} won't import" if trouble.consumer.name.isidentifier() else f"{trouble.consumer} won't load"
    )


def needy(trouble: Trouble) -> str:
    """Name in a sentence who needs what is missing; what was named just before is `it`."""
    named = trouble.step is not None and trouble.severity != ERROR and trouble.step.handled
    known = base(trouble.needy)
    return "it" if named and known == _opened(trouble) else known


def name(consumer: Consumer, one: Loaded | str) -> str:
    """Name a library in a sentence: its soname and its version, or the path where no version is known."""
    path = one if isinstance(one, str) else one.path
    file = consumer.libraries.get(path)
    soname = (file.soname if file else None) or (one.soname if not isinstance(one, str) else None) or base(path)
    if file is not None and file.owner:
        return f"{soname} of {_owner(file)}"
    if file is not None and file.version:
        return f"{soname} {file.version}"
    return path if path.startswith("/") else soname


def brings(consumer: Consumer, one: Loaded, wanted: str | None) -> str:
    """Say who puts a library before which other."""
    before = f" before {_other(consumer, wanted)}" if wanted else ""
    return f"{bringer(one)} puts {name(consumer, one)}{before}"


def _other(consumer: Consumer, wanted: str) -> str:
    file = consumer.libraries.get(wanted)
    if file is not None and file.owner:
        return f"that of {_owner(file)}"
    return file.version if file is not None and file.version else wanted


def _owner(file: LibraryFile) -> str:
    owner = file.owner or ""
    known = file.version is None or file.version in owner
    return owner if known else f"{owner} ({file.version})"


def release(trouble: Trouble) -> str | None:
    """Return the X.Y of the winner's version."""
    file = trouble.consumer.libraries.get(trouble.winner.path) if trouble.winner else None
    match = _RELEASE.match(f"{file.version}.") if file and file.version else None
    return match[1] if match else None


def _opened(trouble: Trouble) -> str:
    return base(trouble.step.outcome.name) if trouble.step else "it"


def _searched(trouble: Trouble) -> tuple[str, ...]:
    if trouble.missing is None or not is_cuda(trouble.missing.name):
        return ()
    return tuple(dict.fromkeys(place.path for place in trouble.missing.places))
