"""Diagnoses made by hand, and a `diagnose` that answers with them, also in a process of its own."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from cvm.actions import doctor
from cvm.consumers.consumer import Consumer, CudnnVersions, LibraryFile
from cvm.consumers.load import Load, Step
from cvm.core.packages import Distribution, PythonEnvironment
from cvm.doctor.finding import Finding
from cvm.elf.found import Found, Rule
from cvm.elf.outcome import Failure, Kind, Loaded, MissingSymbol, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE = "/venv/lib/python3.11/site-packages"
PYTHON = PythonEnvironment("/venv/bin/python", "/usr/bin/python3.11", "/venv", (3, 11), ())


def Diagnosis(  # noqa: N802 - the real one with defaults
    target: str,
    environment: PythonEnvironment | None = PYTHON,
    consumers: tuple[Consumer, ...] = (),
    findings: tuple[Finding, ...] = (),
    unknown: tuple[str, ...] = (),
) -> doctor.Diagnosis:
    return doctor.Diagnosis(target, environment, consumers, findings, unknown)


class Action(ModuleType):
    """Stands for `cvm.actions.doctor`: answers with what it was made with, and keeps what it was asked."""

    def __init__(self, answer: Sequence[doctor.Diagnosis] | Exception) -> None:
        super().__init__("cvm.actions.doctor")
        self.answer = answer
        self.asked: list[tuple[object, ...]] = []

    visit_to = staticmethod(doctor.visit_to)

    def diagnose(self, targets: Sequence[str], visit: doctor.Visit) -> Sequence[doctor.Diagnosis]:
        self.asked.append((tuple(targets), visit.variables, visit.folder, visit.files.root))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def install(name: str) -> None:
    """Let this process diagnose one of `BY_NAME`."""
    sys.modules["cvm.actions.doctor"] = Action(BY_NAME[name])


def library(path: str, found: Found, requested_by: str | None) -> Loaded:
    name = path.rpartition("/")[2]
    return Loaded(path, name, name, found, requested_by, None)


_PROGRAM = Loaded("/usr/bin/python3.11", None, "/usr/bin/python3.11", Found(Rule.PROGRAM), None, None)
_ROOT = f"{SITE}/torch/lib/libtorch_global_deps.so"
_CUBLAS = f"{SITE}/nvidia/cublas/lib/libcublas.so.11"
_LT = "/opt/cuda-11.5/lib64/libcublasLt.so.11"
_WANTED_LT = f"{SITE}/nvidia/cublas/lib/libcublasLt.so.11"
_FAILED = (
    library(_ROOT, Found(Rule.PATH), _PROGRAM.path),
    library(_CUBLAS, Found(Rule.RPATH, "$ORIGIN/../../nvidia/cublas/lib", 0, _ROOT), _ROOT),
    library(_LT, Found(Rule.ENVIRONMENT, "/opt/cuda-11.5/lib64", 0), _CUBLAS),
)
_SYMBOL = MissingSymbol(_CUBLAS, "cublasLtHSHMatmulAlgoInit", "libcublasLt.so.11", _LT)
_CALL = "ctypes.CDLL('libtorch_global_deps.so')"
_STEPS = (
    Step("import _ctypes", "ctypes/__init__.py:8", Outcome("_ctypes.so", None)),
    Step("dlopen('libmissing.so')", f"{SITE}/x.py:3", Outcome("libmissing.so", Failure(Kind.LIBRARY, "not there")), True),
    Step(_CALL, "torch/__init__.py:217", Outcome(_ROOT, Failure(Kind.SYMBOL, _SYMBOL.text, symbols=(_SYMBOL,)), None, _FAILED)),
)  # fmt: skip
_BROKEN = Load(_STEPS, f"OSError: {_SYMBOL.text}", (_PROGRAM,), 1)
_FINE = Load(_STEPS[:1], None, (_PROGRAM, *_FAILED[:2]), 2)


def consumer(name: str = "torch", version: str | None = "1.13.1", load: Load = _FINE) -> Consumer:
    owner = Distribution(name, version or "", SITE, f"{SITE}/{name}.dist-info")
    files = {
        _LT: LibraryFile(_LT, _LT + ".5.1", "libcublasLt.so.11", "11.6.5.2", None, "a"),
        _CUBLAS: LibraryFile(_CUBLAS, _CUBLAS, "libcublas.so.11", "11.10.3.66", "nvidia-cublas-cu11 11.10.3.66", "b"),
    }
    versions = CudnnVersions((8, 5, 0), "torch's metadata", None, None)
    return Consumer(name, version, f"{SITE}/{name}", owner, load, _FINE, files, {}, "11.7", versions)


SHADOWED = Finding(
    "CVM001",
    "error",
    "torch 1.13.1",
    "libcublas.so.11 gets a libcublasLt.so.11 of another release",
    {
        "error": _SYMBOL.text,
        "symbol": "cublasLtHSHMatmulAlgoInit",
        "needed_by": _CUBLAS,
        "winner": _LT,
        "found_via": "LD_LIBRARY_PATH[0]=/opt/cuda-11.5/lib64",
        "wanted": _WANTED_LT,
        "culprit": "LD_LIBRARY_PATH[0]=/opt/cuda-11.5/lib64",
    },
    ("env -u LD_LIBRARY_PATH python train.py", "# or take /opt/cuda-11.5/lib64 out of it where it is set"),
    (Finding("CVM001", "error", "torchvision 0.14.1", "torchvision 0.14.1 won't import either", {}),),
)
WARNING = Finding(
    "CVM013", "warning", "torch 1.13.1", "two packages own one file", {"files": ("/a/b c", "/a/d")}, ("pip check",)
)
NOTE = Finding("CVM020", "note", "", "LD_LIBRARY_PATH names a folder that isn't there", {})

BY_NAME: dict[str, Sequence[Diagnosis] | Exception] = {
    "ok": [Diagnosis("/venv", PYTHON, (consumer(), consumer("torchvision", "0.14.1")), (NOTE,))],
    "nothing": [Diagnosis("/venv")],
    "unknown": [Diagnosis("/venv", PYTHON, (consumer(),), (), ("a name that is computed in x.py:1",))],
    "warning": [Diagnosis("/venv", PYTHON, (consumer(),), (WARNING, NOTE))],
    "error": [Diagnosis("/venv", PYTHON, (consumer(load=_BROKEN),), (WARNING, SHADOWED, NOTE), ("one thing",))],
    "broken": OSError(5, "Input/output error", "/venv"),
    "fault": RecursionError("too deep\nfor this"),
}
