"""The constants of a module, such as a `version.py`, without anything that it imports."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from cvm.consumers.script.text import Unreadable, statements, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cvm.elf.files import Files


def constants(files: Files, path: str) -> Mapping[str, object]:
    """Return the names that a module assigns a literal to; none where there is no such file."""
    text = text_of(files, path)
    found: dict[str, object] = {}
    try:
        for node in statements(text or ""):
            found.update(_assigned(node))
    except Unreadable:
        return {}
    return found


def _assigned(node: ast.stmt) -> dict[str, object]:
    if isinstance(node, ast.Assign):
        targets: list[ast.expr] = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return {}
    try:
        value: object = ast.literal_eval(node.value) if node.value is not None else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return {}
    return {one.id: value for one in targets if isinstance(one, ast.Name)} if node.value is not None else {}
