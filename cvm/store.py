"""The store: what archives turned into, one folder each, keyed by their hashes."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cvm.archive import unpack
from cvm.core.entry import StoredFile
from cvm.disk import (
    STAGING_PREFIX,
    discard_folder,
    disk_error,
    make_folder,
    readable_folder,
    remove_tree,
    replace_folder,
    staging_folder,
    sync_folder,
)
from cvm.errors import DiskError
from cvm.layout import store_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cvm.layout import Layout

SCHEMA = 1

_RECORD = "entry.json"
_TREE = "tree"


@dataclass(frozen=True, slots=True)
class Entry:
    """One unpacked archive: `folder` holds its files in `tree`, read-only, and a record of them."""

    sha256: str
    filename: str
    folder: Path
    files: tuple[StoredFile, ...]

    @property
    def tree(self) -> Path:
        """The folder of the archive's own files."""
        return self.folder / _TREE


class Store:
    """The stores of the homes: the user's own, which grows, and a site's, which is only read."""

    def __init__(self, layout: Layout) -> None:
        self._own = layout.store
        self._all = tuple(home / "store" for home in layout.homes())

    def find(self, sha256: str) -> Entry | None:
        """Return an archive's entry, the user's own first; one whose record is damaged does not exist."""
        found = (_read(store_entry(store, sha256)) for store in self._all)
        return next((entry for entry in found if entry is not None and entry.sha256 == sha256), None)

    def add(self, sha256: str, filename: str, chunks: Iterable[bytes], *, limit: int | None = None) -> Entry:
        """Unpack an archive beside its place and rename it there; where another process was faster, theirs is taken.

        Nothing of it stays after an error. `limit` caps the unpacked bytes. Raises IntegrityError for a bad archive,
        DiskError for what the disk refuses, and whatever `chunks` raises.
        """
        staged = staging_folder(self._own)
        try:
            files = _unpack(chunks, filename, staged, limit)
            _write_record(staged, sha256, filename, files)
            return self._place(staged, sha256)
        finally:
            remove_tree(staged)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries of the user's own store."""
        for folder in sorted(self._own.glob("[0-9a-f][0-9a-f]/[0-9a-f]*-*")):
            if (entry := _read(folder)) is not None:
                yield entry

    def remove(self, entry: Entry) -> None:
        """Remove an entry: at once for whoever looks for it, then its bytes; raises DiskError."""
        discard_folder(entry.folder)

    def sweep_staging(self) -> None:
        """Remove what processes left that died; only under the install lock, where nobody else unpacks."""
        for pattern in (f"{STAGING_PREFIX}*", f"*/{STAGING_PREFIX}*"):
            for path in self._own.glob(pattern):
                if not _alive(path.name):
                    remove_tree(path)

    def size(self, entry: Entry) -> int:
        """Return the bytes of an entry's files."""
        return sum(file.size for file in entry.files)

    def _place(self, staged: Path, sha256: str) -> Entry:
        target = store_entry(self._own, sha256)
        readable_folder(target.parent)
        try:
            staged.rename(target)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise disk_error(error, target) from error
            if (existing := _read(target)) is not None:
                return existing
            replace_folder(staged, target)
        sync_folder(target.parent)
        placed = _read(target)
        assert placed is not None
        return placed


def _unpack(chunks: Iterable[bytes], filename: str, staged: Path, limit: int | None) -> tuple[StoredFile, ...]:
    tree = make_folder(staged / _TREE)
    try:
        # Whatever the umask: another user may read a site's store.
        tree.chmod(0o755)
        return unpack(chunks, filename, tree, limit=limit)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskError(
                f"no space is left on {staged.parent} while unpacking {filename}",
                hint="cvm prune, or set CVM_HOME to a larger disk",
            ) from error
        raise disk_error(error, staged.parent) from error


def _write_record(staged: Path, sha256: str, filename: str, files: tuple[StoredFile, ...]) -> None:
    rows = [[file.path, file.mode, file.size, file.sha256, file.target] for file in files]
    document = {"schema": SCHEMA, "sha256": sha256, "filename": filename, "files": rows}
    path = staged / _RECORD
    try:
        with path.open("x", encoding="utf-8") as stream:
            json.dump(document, stream, separators=(",", ":"))
            stream.flush()
            os.fsync(stream.fileno())
        path.chmod(0o644)
        staged.chmod(0o755)
    except OSError as error:
        raise disk_error(error, path) from error


def _read(folder: Path) -> Entry | None:
    try:
        document: Any = json.loads((folder / _RECORD).read_bytes())
        if document["schema"] != SCHEMA:
            return None
        files = tuple(StoredFile(str(p), int(m), int(s), str(h), str(t)) for p, m, s, h, t in document["files"])
        return Entry(str(document["sha256"]), str(document["filename"]), folder, files)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _alive(name: str) -> bool:
    """Whether the process in the name of a staging folder still runs."""
    pid = name.removeprefix(STAGING_PREFIX).partition("-")[0]
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    # In a container nobody may collect the dead.
    return pid.isdigit() and state not in "ZX"
