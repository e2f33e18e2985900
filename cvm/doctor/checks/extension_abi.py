"""An extension that was built for another PyTorch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cvm.doctor.blame import culprit
from cvm.doctor.cause import claimed
from cvm.doctor.evidence import brings, fails, of_trouble
from cvm.doctor.family import base
from cvm.doctor.finding import Finding
from cvm.doctor.hints import pip, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble

CODES = {"CVM011": "an extension was built for another PyTorch"}

_NESTED = re.compile(r"_Z(?:T[ISV])?NK?")
_PART = re.compile(r"(\d+)")
# The old C++ ABI of GCC writes std::string as a whole as `Ss`, the new one as a template in `__cxx11`.
_NEW_ABI, _OLD_ABI = "__cxx11", re.compile(r"E[a-zA-Z0-9_]*Ss")


def check(case: Case) -> Iterator[Finding]:
    """Find extensions that want C++ functions of PyTorch which the PyTorch that they load doesn't have."""
    for trouble in claimed(case, "CVM011"):
        foreign = trouble.blamed if trouble.blamed and trouble.blamed.foreign else None
        evidence = of_trouble(trouble, cause=culprit(foreign.file) if foreign else trouble.needy)
        hint = remove(case, trouble.consumer, foreign, later=trouble.later) or _rebuild(case, trouble)
        yield Finding("CVM011", trouble.severity, trouble.consumer.name, _summary(case, trouble), evidence, hint)


def plain(symbol: str) -> str:
    """Return the name in a mangled nested name, without its arguments: `c10::Error::Error`; else the symbol itself."""
    match = _NESTED.match(symbol)
    if match is None:
        return symbol
    parts, rest = [], symbol[match.end() :]
    while (size := _PART.match(rest)) is not None:
        end = size.end() + int(size[1])
        parts.append(rest[size.end() : end])
        rest = rest[end:]
    if parts and rest.startswith(("C1", "C2")):
        parts.append(parts[-1])
    elif parts and rest.startswith(("D0", "D1", "D2")):
        parts.append(f"~{parts[-1]}")
    return "::".join(parts) or symbol


def _summary(case: Case, trouble: Trouble) -> str:
    symbol = trouble.symbol or ""
    if trouble.blamed and trouble.blamed.foreign:
        text = brings(trouble.consumer, trouble.blamed.file, trouble.blamed.wanted)
        return f"{fails(trouble)}: {text}, and it lacks {plain(symbol)} that {base(trouble.needy)} needs"
    other = f"was built for another PyTorch than {_torch(case)}{_abi(symbol)}"
    return f"{fails(trouble)}: {base(trouble.needy)} {other}: {plain(symbol)} is missing"


def _abi(symbol: str) -> str:
    if _NEW_ABI in symbol:
        return ", or with the new C++ ABI where that has the old one"
    return ", or with the old C++ ABI where that has the new one" if _OLD_ABI.search(symbol) else ""


def _torch(case: Case) -> str:
    known = case.python.distribution("torch") if case.python else None
    version = known.version if known else next((one.version for one in case.consumers if one.name == "torch"), None)
    return version or "the one that is here"


def _rebuild(case: Case, trouble: Trouble) -> tuple[str, ...]:
    distribution = trouble.consumer.distribution
    if distribution is None:
        return (f"# install a build of {trouble.consumer.name} for PyTorch {_torch(case)}, or build it again",)
    if distribution.name == "torch":
        return (pip(case, "install", "--force-reinstall", "--no-deps", f"torch=={distribution.version}"),)
    words = ("install", "--force-reinstall", "--no-deps", "--no-build-isolation", f"--no-binary={distribution.name}")
    return (
        f"# install a build of {distribution.name} for PyTorch {_torch(case)}, or build it here:",
        pip(case, *words, distribution.name),
    )
