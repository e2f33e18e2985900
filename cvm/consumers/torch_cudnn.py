"""What PyTorch says when the cuDNN that it finds is none that it takes.

`torch/backends/cudnn/__init__.py` compares both versions at the first use: the majors must be equal, and the one found
must have the minor that PyTorch was compiled with or a later one. The words differ from release to release, so they
are read from the file, whose f-strings are filled in as Python would.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.source_text import source_text
from cvm.consumers.torch_built import torch_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.consumers.consumer import CudnnVersions
    from cvm.consumers.session import Session
    from cvm.core.packages import Distribution

_BASE = "base_error_msg"
_SKIP = "PYTORCH_SKIP_CUDNN_COMPATIBILITY_CHECK"


def torch_complaint(distribution: Distribution, versions: CudnnVersions, session: Session) -> str | None:
    """Return the last line that `torch.backends.cudnn.version()` would end with, None where it answers."""
    compiled, runtime = versions.compiled, versions.runtime
    if compiled is None or runtime is None or (compiled[0] == runtime[0] and compiled[1] <= runtime[1]):
        return None
    source = _source(distribution, session)
    environment = session.world.environment
    if _SKIP in source and environment.get(_SKIP) == "1":
        return None
    known = {"compile_version": str(compiled), "runtime_version": str(runtime)}
    return f"RuntimeError: {_message(source, known, environment) or _short(known)}"


def _source(distribution: Distribution, session: Session) -> str:
    folder = torch_folder(distribution, session)
    return source_text(session.world.files, f"{folder}/backends/cudnn/__init__.py")


def _short(known: Mapping[str, str]) -> str:
    return (
        "cuDNN version incompatibility: PyTorch was compiled  against "
        f"{known['compile_version']} but found runtime version {known['runtime_version']}. "
    )


def _message(source: str, known: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    """Fill in the text of the `raise` that the environment leads to: two look at LD_LIBRARY_PATH, the last is bare."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return None
    bases = [node.value for node in nodes if isinstance(node, ast.Assign) and _is(node.targets[0], _BASE)]
    raised = sorted((one for node in nodes if (one := _raised(node))), key=lambda one: one.lineno)
    if not bases or len(raised) < 3:
        return None
    path = environment.get("LD_LIBRARY_PATH")
    chosen = 2 if path is None else 0 if "cuda" in path or "cudnn" in path else 1
    return _filled(raised[chosen], {**known, _BASE: _filled(bases[0], known)})


def _raised(node: ast.AST) -> ast.expr | None:
    """Return the text of `raise RuntimeError(…)` where it has the base message in it."""
    if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call) or not node.exc.args:
        return None
    text = node.exc.args[0]
    return text if any(_is(one, _BASE) for one in ast.walk(text)) else None


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _filled(node: ast.expr, known: Mapping[str, str]) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_filled(part, known) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _filled(node.value, known)
    return known.get(node.id, "") if isinstance(node, ast.Name) else ""
