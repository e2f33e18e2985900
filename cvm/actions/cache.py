"""The download cache: archives that have arrived in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cvm.disk import disk_error

if TYPE_CHECKING:
    from pathlib import Path

    from cvm.layout import Layout


def cached_files(layout: Layout) -> tuple[Path, ...]:
    """Return the files in the cache."""
    if not layout.cache.is_dir():
        return ()
    return tuple(sorted(path for path in layout.cache.rglob("*") if path.is_file()))


def clear(layout: Layout) -> int:
    """Delete the cached files and return their bytes; the caller holds the install lock."""
    freed = 0
    for path in cached_files(layout):
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise disk_error(error, path) from error
        freed += size
    return freed
