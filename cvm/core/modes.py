"""Which files of an archive are programs: wheels often lose the bits that say so."""

from __future__ import annotations

_PROGRAM_FOLDERS = frozenset({"bin", "compute-sanitizer"})
_PROGRAM_STARTS = (b"\x7fELF", b"#!")


def executable(path: str, mode: int, head: bytes) -> bool:
    """Say whether a file is to be made executable: the archive says so, or it is a program in a folder of programs.

    `path` is relative, `mode` as the archive gave it (0 when it gave none), `head` the first bytes of the file.
    """
    if mode & 0o111:
        return True
    *folders, name = path.split("/")
    return not _PROGRAM_FOLDERS.isdisjoint(folders) and ".so" not in name and head.startswith(_PROGRAM_STARTS)
