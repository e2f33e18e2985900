"""Any other load that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.consumers.families import family_of
from cvm.doctor.cause import claimed
from cvm.doctor.checks.shadowed import explained
from cvm.doctor.evidence import fails, of_trouble
from cvm.doctor.family import base
from cvm.doctor.finding import Finding
from cvm.doctor.hints import pinned, remove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cvm.doctor.case import Case
    from cvm.doctor.trouble import Trouble

CODES = {"CVM012": "a library lacks what another needs"}


def check(case: Case) -> Iterator[Finding]:
    """Find failures that no other check explains."""
    for trouble in claimed(case, "CVM012"):
        hint = (
            *remove(case, trouble.consumer, trouble.blamed, later=trouble.later),
            *_pinned(case, trouble),
            *_advice(trouble),
        )
        evidence = of_trouble(trouble)
        yield Finding("CVM012", trouble.severity, trouble.consumer.name, _summary(trouble), evidence, hint)


def _summary(trouble: Trouble) -> str:
    if trouble.symbol or trouble.version:
        return explained(trouble)
    return f"{fails(trouble)}: {trouble.error}"


def _pinned(case: Case, trouble: Trouble) -> tuple[str, ...]:
    """Say how to get the package that the consumer asks for, where NVIDIA's packages don't fit together."""
    family = family_of(trouble.asked or "")
    if family is None or trouble.blamed is None or trouble.blamed.foreign:
        return ()
    return pinned(case, trouble.consumer, f"nvidia-{family}")


def _advice(trouble: Trouble) -> tuple[str, ...]:
    lacks = trouble.symbol or trouble.version or ""
    if lacks.startswith(("iJIT_", "__itt_")):
        # MKL 2024.1 no longer has the ITT functions that PyTorch's conda builds of that time took from it.
        return ("conda install 'mkl<2024.1'",)
    if lacks.startswith(("GLIBCXX_", "CXXABI_")):
        return (f"# {base(trouble.needy)} was built with a newer GCC: use a newer libstdc++.so.6",)
    if lacks.startswith("GLIBC_"):
        return (f"# {base(trouble.needy)} was built for a newer Linux: use a build for this one",)
    return ()
