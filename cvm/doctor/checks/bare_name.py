"""A library that is opened by a name without a version."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from cvm.doctor.cause import claimed
from cvm.doctor.evidence import fails, of_trouble
from cvm.doctor.family import base, stem
from cvm.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble

CODES = {"CVM009": "a library is opened by a name without a version, and no file has that name"}


def check(case: Case) -> Iterator[Finding]:
    """Find bare names that are opened and lead nowhere: `libnvrtc.so.12` is no answer to `libnvrtc.so`."""
    for trouble in claimed(case, "CVM009"):
        name = trouble.missing.name if trouble.missing else ""
        there = _versioned(trouble)
        known = f", and only {there[0]} is there" if there else ", which is nowhere"
        summary = f"{fails(trouble)}: {base(trouble.needy)} opens {name} by its name without a version{known}"
        hint = _hint(name, there)
        yield Finding("CVM009", trouble.severity, trouble.consumer.name, summary, of_trouble(trouble), hint)


def _versioned(trouble: Trouble) -> tuple[str, ...]:
    """Return the files that have the library's name with a version."""
    name = trouble.missing.name if trouble.missing else ""
    loaded = (one.path for one in trouble.consumer.load.loaded)
    return tuple(path for path in (*trouble.elsewhere, *loaded) if stem(path) == stem(name))


def _hint(name: str, there: tuple[str, ...]) -> tuple[str, ...]:
    if not there:
        return ()
    if name == "libcuda.so":
        return (f"export TRITON_LIBCUDA_PATH={quote(there[0].rpartition('/')[0])}",)
    folder = '"$HOME"/.local/lib/cuda-names'
    return (
        f"mkdir -p {folder} && ln -sfn {quote(there[0])} {folder}/{name}",
        f'export LD_LIBRARY_PATH={folder}"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"',
    )
