"""The files that ship with cvm, found from an installed wheel or from a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """Return the folder of shipped files called `manifests`, `shims` or `completions`."""
    shipped = _PACKAGE / "resources" / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name
