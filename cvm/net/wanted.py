"""What an archive must be: the manifest's word, against which all that arrives is held."""

from __future__ import annotations

from dataclasses import dataclass

from cvm.errors import IntegrityError

OTHER_BYTES = "run the command again; if that doesn't help, a mirror or proxy on the way serves another file"


@dataclass(frozen=True, slots=True)
class Wanted:
    """An archive's hash, its size in bytes (0 when nobody knows it) and its name."""

    sha256: str
    size: int
    filename: str

    def check(self, size: int, sha256: str) -> None:
        """Compare what arrived; raises IntegrityError that names both sides."""
        if self.size and size != self.size:
            raise IntegrityError(f"{self.filename} has {size} bytes instead of {self.size}", hint=OTHER_BYTES)
        if sha256 != self.sha256:
            raise IntegrityError(f"{self.filename} has the sha256 {sha256} instead of {self.sha256}", hint=OTHER_BYTES)

    def check_longest(self, size: int) -> None:
        """Refuse more bytes than there should be, as soon as they are seen; raises IntegrityError."""
        if self.size and size > self.size:
            raise IntegrityError(f"{self.filename} has {size} bytes or more instead of {self.size}", hint=OTHER_BYTES)
