"""The document of `cvm doctor --json`; `cvm/schemas/doctor.json` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cvm.cli.doctor_tree import loaded, version_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cvm.actions.doctor import Diagnosis
    from cvm.consumers.consumer import Consumer, CudnnVersions, LibraryFile
    from cvm.doctor.finding import Finding
    from cvm.elf.outcome import Loaded


def document(diagnoses: Sequence[Diagnosis], verdict: str) -> dict[str, Any]:
    """Return everything that is known of all targets, with the worst of their verdicts."""
    return {
        "verdict": verdict,
        "findings": [_finding(one, diagnosis.target) for diagnosis in diagnoses for one in diagnosis.findings],
        "consumers": [_consumer(one, diagnosis.target) for diagnosis in diagnoses for one in diagnosis.consumers],
        "unknown": list(dict.fromkeys(sentence for diagnosis in diagnoses for sentence in diagnosis.unknown)),
        "targets": [_target(one) for one in diagnoses],
    }


def _target(diagnosis: Diagnosis) -> dict[str, Any]:
    python = diagnosis.environment
    return {
        "target": diagnosis.target,
        "verdict": diagnosis.verdict,
        "python": python.executable if python else None,
        "prefix": python.prefix if python else None,
    }


def _finding(finding: Finding, target: str) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "target": target,
        "consumer": finding.consumer,
        "summary": finding.summary,
        "evidence": {
            name: value if isinstance(value, str) else list(value) for name, value in finding.evidence.items()
        },
        "hint": list(finding.hint),
        "consequences": [_finding(one, target) for one in finding.consequences],
    }


def _consumer(consumer: Consumer, target: str) -> dict[str, Any]:
    fails = consumer.load.error is not None or consumer.first_use_error is not None
    return {
        "name": consumer.name,
        "version": consumer.version,
        "path": consumer.path,
        "target": target,
        "verdict": "error" if fails else "ok",
        "error": consumer.load.error,
        "first_use_error": consumer.first_use_error,
        "cuda": consumer.cuda,
        "cudnn": _cudnn(consumer.cudnn),
        "imported": consumer.load.imported,
        "libraries": [_library(one, consumer.libraries) for one in loaded(consumer.load)],
    }


def _cudnn(cudnn: CudnnVersions | None) -> dict[str, Any] | None:
    if cudnn is None:
        return None
    return {
        "compiled": version_text(cudnn.compiled),
        "compiled_from": cudnn.compiled_from,
        "runtime": version_text(cudnn.runtime),
        "answered_by": cudnn.answered_by,
    }


def _library(one: Loaded, files: Mapping[str, LibraryFile]) -> dict[str, Any]:
    file = files.get(one.path)
    return {
        "name": one.name,
        "path": one.path,
        "soname": one.soname,
        "found_via": str(one.found),
        "requested_by": one.requested_by,
        "version": file.version if file else None,
        "owner": file.owner if file else None,
    }
