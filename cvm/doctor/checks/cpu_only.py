"""A torch without CUDA where CUDA is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.doctor.finding import NOTE, WARNING, Finding
from cvm.doctor.installed import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.consumers.consumer import Consumer
    from cvm.doctor.case import Case

CODES: Mapping[str, str] = {"CVM027": "torch is built without CUDA"}

# An exact toolchain, or a folder; `system` is cvm's word for none of its own.
_WISHES = ("CVM_TOOLCHAIN", "CUDA_HOME")


def check(case: Case) -> Iterator[Finding]:
    """Find a torch that will never use the GPU; who has no GPU and asks for none may want just that."""
    wish = _wish(case)
    for consumer in case.consumers:
        if consumer.name == "torch" and consumer.cuda is None and (case.machine.gpu or wish):
            yield _finding(case, consumer, wish)


def _wish(case: Case) -> str | None:
    """Name what here asks for CUDA."""
    for one in case.path:
        if one.cuda and one.text.startswith("/"):
            return str(one)
    for name in _WISHES:
        value = case.variables.get(name)
        if value and value != "system":
            return f"{name}={value}"
    return None


def _finding(case: Case, consumer: Consumer, wish: str | None) -> Finding:
    evidence: dict[str, str | tuple[str, ...]] = {"culprit": consumer.path, "compiled": "without CUDA"}
    if case.machine.gpu:
        summary = f"{consumer} is built without CUDA and will not use this machine's GPU"
    else:
        summary = f"{consumer} is built without CUDA and makes no use of {wish}"
        evidence["wanted"] = wish or ""
    severity = WARNING if case.machine.gpu else NOTE
    return Finding("CVM027", severity, consumer.name, summary, evidence, _hint(case, consumer))


def _hint(case: Case, consumer: Consumer) -> tuple[str, ...]:
    own = consumer.distribution
    version = (consumer.version or (own.version if own else "")).partition("+")[0]
    wanted = f"torch=={version}" if version else "torch"
    installed = case.python.distributions if case.python else ()
    conda = ("# if conda installed it:", "conda install 'pytorch=*=*cuda*'", "# if pip did:")
    return (
        *(conda if any("/conda-meta/" in one.info for one in installed) else ()),
        "# choose the package index of a CUDA version that your driver can run, then:",
        replace(case, ("torch",), wanted),
    )
