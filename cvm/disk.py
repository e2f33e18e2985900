"""Folders of our own: made, put in place and removed so that no moment shows a half of one."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path
from uuid import uuid4

from cvm.errors import CvmError, DiskError

STAGING_PREFIX = ".staging-"

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DENIED = (errno.EROFS, errno.EACCES, errno.EPERM)


def make_folder(path: Path) -> Path:
    """Make a folder and its parents; raises DiskError that says why it can't be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path) from error
    return path


def staging_folder(parent: Path) -> Path:
    """Make a folder beside its target, so that a rename puts it in place."""
    return make_folder(make_folder(parent) / f"{STAGING_PREFIX}{os.getpid()}-{uuid4().hex[:8]}")


def replace_folder(staged: Path, target: Path) -> None:
    """Put a staged folder in place of `target`: the old one is moved aside first and removed last."""
    try:
        make_folder(target.parent)
        if target.is_symlink() or target.exists():
            aside = target.parent / f"{STAGING_PREFIX}old-{uuid4().hex[:8]}"
            target.rename(aside)
            staged.rename(target)
            remove_tree(aside)
        else:
            staged.rename(target)
    except OSError as error:
        raise disk_error(error, target) from error


def discard_folder(path: Path) -> None:
    """Remove a folder at once for whoever looks at it: renamed aside, then deleted."""
    try:
        aside = path.parent / f"{STAGING_PREFIX}gone-{uuid4().hex[:8]}"
        path.rename(aside)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_error(error, path) from error
    remove_tree(aside)


def remove_tree(path: Path) -> None:
    """Delete a folder of ours, read-only folders inside it included; what is gone already is no error."""
    for folder, names, _ in os.walk(path):
        for name in names:
            child = Path(folder, name)
            if not child.is_symlink() and not child.stat().st_mode & stat.S_IWUSR:
                child.chmod(0o755)
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_error(error, path) from error


def sweep_staging(parent: Path) -> None:
    """Remove what processes left that died; only safe under the install lock."""
    if parent.is_dir():
        for path in parent.iterdir():
            if path.name.startswith(STAGING_PREFIX):
                remove_tree(path)


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def disk_error(error: OSError, path: Path) -> CvmError:
    """Say in one sentence what the disk refused."""
    where = error.filename or path
    if error.errno in _FULL:
        return DiskError(f"no space is left for {where}", hint="cvm prune, or set CVM_HOME to a larger disk")
    if error.errno in _DENIED:
        return DiskError(
            f"{where} can't be written: {str(error.strerror).lower()}",
            hint="set CVM_HOME to a folder that is yours",
        )
    return DiskError(f"{where}: {str(error.strerror or error).lower()}")
