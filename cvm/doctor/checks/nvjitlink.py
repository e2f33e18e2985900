"""An nvJitLink that is older than the library that calls it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.doctor.cause import claimed
from cvm.doctor.checks.shadowed import explained
from cvm.doctor.evidence import brings, fails, name, of_trouble, release
from cvm.doctor.family import base, major
from cvm.doctor.finding import Finding
from cvm.doctor.hints import pip, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble

CODES = {"CVM003": "nvJitLink is older than the library that needs it"}

# Its soname stays the same for a whole major; the minor stands in the names of its functions.
_MINOR = re.compile(r"_(\d+)_(\d+)$")


def check(case: Case) -> Iterator[Finding]:
    """Find an nvJitLink that lacks the functions of the minor that cuSPARSE or cuSOLVER was built with."""
    for trouble in claimed(case, "CVM003"):
        hint = remove(case, trouble.consumer, trouble.blamed, later=trouble.later)
        evidence = of_trouble(trouble)
        yield Finding(
            "CVM003",
            trouble.severity,
            trouble.consumer.name,
            _summary(trouble),
            evidence,
            hint or _upgrade(case, trouble),
        )


def _summary(trouble: Trouble) -> str:
    minor, winner, blamed = _wanted(trouble), trouble.winner, trouble.blamed
    if minor is None or winner is None or blamed is None:
        return explained(trouble)
    needy = base(trouble.needy)
    if blamed.file.path != winner.path:
        text = brings(trouble.consumer, blamed.file, blamed.wanted)
        return f"{fails(trouble)}: {text}, and it needs the nvJitLink of CUDA {minor}, but gets {_given(trouble)}"
    if not blamed.foreign:
        return f"{fails(trouble)}: {needy} needs the nvJitLink of CUDA {minor}, and {_given(trouble)} is installed"
    return f"{fails(trouble)}: {_puts(trouble)} before the {minor} that {needy} was built with"


def _puts(trouble: Trouble) -> str:
    assert trouble.blamed is not None
    text = brings(trouble.consumer, trouble.blamed.file, None)
    given = release(trouble)
    return f"{text.partition(' puts ')[0]} puts the {_soname(trouble)} of CUDA {given}" if given else text


def _given(trouble: Trouble) -> str:
    given = release(trouble)
    assert trouble.winner is not None
    return f"that of CUDA {given}" if given else name(trouble.consumer, trouble.winner)


def _soname(trouble: Trouble) -> str:
    return trouble.asked or "libnvJitLink"


def _wanted(trouble: Trouble) -> str | None:
    match = _MINOR.search(trouble.symbol or "")
    return f"{match[1]}.{match[2]}" if match else None


def _upgrade(case: Case, trouble: Trouble) -> tuple[str, ...]:
    minor = _wanted(trouble)
    cuda = major(trouble.asked or "")
    if minor is None or cuda is None:
        return ()
    # From CUDA 13 on the packages have no suffix.
    package = f"nvidia-nvjitlink-cu{cuda}" if int(cuda) < 13 else "nvidia-nvjitlink"
    return (pip(case, "install", f"{package}>={minor},<{int(cuda) + 1}"),)
