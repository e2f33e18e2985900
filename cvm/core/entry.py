"""What an archive turned into when it was unpacked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One member of an unpacked archive: a regular file, or a symbolic link when `target` is set.

    `path` is relative, with `/` between parts. `size` is in bytes; `mode` is as the archive gave
    it (0 when it gave none). A link has neither a hash nor a size.
    """

    path: str
    mode: int = 0
    size: int = 0
    sha256: str = ""
    target: str = ""

    @property
    def is_link(self) -> bool:
        """Whether this is a symbolic link."""
        return bool(self.target)
