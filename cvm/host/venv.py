"""What the `pyvenv.cfg` of a virtual environment says; `site` and `getpath` of CPython are its readers."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cvm.elf.files import Files


class Venv(NamedTuple):
    """A virtual environment: `home` is the folder of the interpreter that it was made with, "" where it isn't said."""

    prefix: str
    home: str
    system_site: bool
    version: str


def read_venv(executable: str, files: Files) -> Venv | None:
    """Return the virtual environment that an interpreter called by this path is in, or None.

    The file lies beside the interpreter or one folder up; symbolic links are not followed for that.
    """
    beside = posixpath.dirname(executable)
    prefix = posixpath.dirname(beside)
    for folder in (beside, prefix):
        try:
            text = os.fsdecode(files.content(posixpath.join(folder, "pyvenv.cfg")))
        except OSError:
            continue
        return _venv(prefix, _settings(text))
    return None


def _venv(prefix: str, settings: dict[str, str]) -> Venv:
    # Without the line, the packages of the base are seen.
    system_site = settings.get("include-system-site-packages", "true").lower() == "true"
    # virtualenv and uv write `version_info`, the module venv writes `version`.
    version = settings.get("version_info") or settings.get("version", "")
    return Venv(prefix, settings.get("home", ""), system_site, version)


def _settings(text: str) -> dict[str, str]:
    lines = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in lines}
