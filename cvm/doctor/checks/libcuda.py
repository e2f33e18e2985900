"""The driver's libcuda: not found where there is a GPU, or another file in its place."""

from __future__ import annotations

import posixpath
import re
from shlex import quote
from typing import TYPE_CHECKING

from cvm.doctor.blame import culprit
from cvm.doctor.checks.stub_libcuda import is_stub
from cvm.doctor.finding import ERROR, NOTE, WARNING, Finding
from cvm.doctor.hints import drop
from cvm.elf.found import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cvm.doctor.case import Case, PathElement
    from cvm.elf.outcome import Failure, Loaded

CODES: Mapping[str, str] = {"CVM025": "the driver's libcuda is missing, or another one is loaded in its place"}

# Windows lends its driver to WSL here, and ld.wsl.conf puts it into the loader's cache.
_WSL = re.compile(r"(?:/usr)?/lib/wsl/")
_SYSTEM = re.compile(r"(?:/usr)?/lib(?:32|64)?(?:/[\w.-]+-linux-gnu(?:/(?:nvidia|tegra)(?:/current)?)?)?")
# `libcuda.so.550.54.14`: the driver's version; Tegra's `libcuda.so.1.1` has none.
_DRIVER = re.compile(r"libcuda\.so\.(\d{3,}\.\d+(?:\.\d+)?)")
_COMPAT = re.compile(r"/(?:cuda-)?compat[\w.-]*/")
_OF_THE_DRIVER = ("libcuda.so", "libnvidia-ml.so")


def check(case: Case) -> Iterator[Finding]:
    """Judge the libcuda.so.1 that a plain program would open; without a GPU nobody needs one."""
    if case.machine.gpu is False or case.libcuda is None:
        return
    if case.libcuda.failure is not None:
        if case.machine.gpu:
            yield _missing(case, case.libcuda.failure)
        return
    winner = case.libcuda.root
    if winner is None or is_stub(_real(case, winner.path)) or is_stub(winner.path):
        return
    if case.machine.wsl:
        yield from _on_wsl(case, winner)
    else:
        yield from _foreign(case, winner)


# -- missing


def _missing(case: Case, failure: Failure) -> Finding:
    summary = "this machine has an NVIDIA GPU, but the driver's libcuda.so.1 can't be loaded"
    evidence: dict[str, str | tuple[str, ...]] = {"error": failure.text, "missing": "libcuda.so.1"}
    known = tuple(
        dict.fromkeys(
            path
            for one in case.consumers
            for path in one.elsewhere.get("libcuda.so.1", ())
            if path.endswith("/libcuda.so.1") and not is_stub(path) and not _COMPAT.search(path)
        )
    )
    if known:
        evidence["files"] = known
    return Finding("CVM025", ERROR, "", summary, evidence, _where_to_get(case, known))


def _where_to_get(case: Case, known: tuple[str, ...]) -> tuple[str, ...]:
    if case.machine.wsl:
        return (
            "# Windows' driver brings it as /usr/lib/wsl/lib/libcuda.so.1, named in /etc/ld.so.conf.d/ld.wsl.conf:",
            "sudo ldconfig",
        )
    if known:
        old = ':"$LD_LIBRARY_PATH"' if case.variables.get("LD_LIBRARY_PATH") else ""
        line = f"export LD_LIBRARY_PATH={quote(posixpath.dirname(known[0]))}{old}"
        return (f"# {known[0]} exists, in a folder that the loader doesn't search:", line)
    return (
        "# in a container: start it with `--gpus all` or a CDI device, and NVIDIA_DRIVER_CAPABILITIES with `compute`",
        "# on the machine itself: install the driver's library (libnvidia-compute, or the driver's compute package)",
    )


# -- another one


def _on_wsl(case: Case, winner: Loaded) -> Iterator[Finding]:
    if not _WSL.match(_real(case, winner.path)) and not _WSL.match(winner.path):
        severity = ERROR if case.machine.gpu else WARNING
        summary = f"libcuda.so.1 is {winner.path}, but under WSL only Windows' own in /usr/lib/wsl/lib works"
        yield Finding("CVM025", severity, "", summary, _evidence(winner), _wsl_hint(case, winner))
        return
    for one in case.path:
        if one.folder and _SYSTEM.fullmatch(one.folder):
            holds = [name for name in one.cuda if name.startswith(_OF_THE_DRIVER)]
            summary = f"{one} puts the system's folder before /usr/lib/wsl/lib, where Windows' driver lies"
            evidence: dict[str, str | tuple[str, ...]] = {"culprit": str(one), "files": tuple(holds)}
            yield Finding("CVM025", WARNING if holds else NOTE, "", summary, evidence, (drop(case, one.text),))


def _wsl_hint(case: Case, winner: Loaded) -> tuple[str, ...]:
    element = _element(case, winner)
    if element:
        return (drop(case, element.text),)
    return (
        "# see which package has brought it, and remove that Linux driver (not /usr/lib/wsl/lib):",
        f"dpkg -S {quote(winner.path)}",
    )


def _foreign(case: Case, winner: Loaded) -> Iterator[Finding]:
    """Find a copy of another version than the kernel's driver, outside of the system's folders.

    The compat packages are such copies on purpose: on a data centre's GPU they are right.
    """
    real, driver = _real(case, winner.path), case.machine.driver
    found = _DRIVER.fullmatch(posixpath.basename(real))
    if found is None or driver is None or case.machine.tegra or found[1] == driver:
        return
    if _COMPAT.search(real) or _COMPAT.search(winner.path) or _SYSTEM.fullmatch(posixpath.dirname(winner.path)):
        return
    summary = f"libcuda.so.1 is {winner.path} of driver {found[1]}, but this machine's driver is {driver}"
    evidence = {**_evidence(winner), "compiled": driver, "runtime": found[1]}
    element = _element(case, winner)
    hint = (
        (drop(case, element.text),) if element else (f"# found by {winner.found}: take that folder out of the search",)
    )
    yield Finding("CVM025", ERROR if case.machine.gpu else WARNING, "", summary, evidence, hint)


# -- both


def _evidence(winner: Loaded) -> dict[str, str | tuple[str, ...]]:
    return {"winner": winner.path, "found_via": str(winner.found), "culprit": culprit(winner)}


def _element(case: Case, winner: Loaded) -> PathElement | None:
    if winner.found.rule is not Rule.ENVIRONMENT:
        return None
    return next((one for one in case.path if one.number == winner.found.number), None)


def _real(case: Case, path: str) -> str:
    """Return the file behind the winner's links, as far as it is known."""
    known = (one.libraries[path].real for one in case.consumers if path in one.libraries)
    return case.libcuda_real or next(known, path)
