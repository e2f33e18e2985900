"""Folders of our own: made, put in place and removed so that no moment shows a half of one."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cvm.errors import CvmError, DiskError

if TYPE_CHECKING:
    from collections.abc import Collection

STAGING_PREFIX = ".staging-"

_FULL = (errno.ENOSPC, errno.EDQUOT)
_IN_THE_WAY = (errno.ENOTDIR, errno.EEXIST)
_DENIED = (errno.EROFS, errno.EACCES, errno.EPERM)

# linux/fcntl.h and linux/fs.h.
_HERE, _RENAME_EXCHANGE = -100, 2
_CANNOT_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EXDEV)


def make_folder(path: Path) -> Path:
    """Make a folder and its parents; raises DiskError that says why it can't be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path) from error
    return path


def readable_folder(path: Path) -> Path:
    """Make a folder that others may read whatever the umask, as a site's store must be; raises DiskError.

    Who wants privacy has it from the home around it, which is left to the umask.
    """
    if not path.is_dir():
        make_folder(path)
        try:
            path.chmod(0o755)
        except OSError as error:
            raise disk_error(error, path) from error
    return path


def staging_folder(parent: Path) -> Path:
    """Make a folder beside its target, so that a rename puts it in place."""
    return make_folder(readable_folder(parent) / f"{STAGING_PREFIX}{os.getpid()}-{_unique()}")


def replace_folder(staged: Path, target: Path) -> None:
    """Put a staged folder in place of `target`, in one step where the file system knows how; raises DiskError."""
    try:
        make_folder(target.parent)
        if not os.path.lexists(target):
            staged.rename(target)
        elif _exchange(staged, target):
            remove_tree(staged)
        else:
            aside = _move_aside(target)
            staged.rename(target)
            remove_tree(aside)
    except OSError as error:
        raise disk_error(error, target) from error


def discard_folder(path: Path) -> None:
    """Remove a folder at once for whoever looks at it: renamed aside, then deleted; raises DiskError."""
    try:
        aside = _move_aside(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_error(error, path) from error
    remove_tree(aside)


def replace_file(path: Path, content: bytes, mode: int = 0o644) -> bool:
    """Put a small file in place in one step; returns whether that changed anything. Raises OSError."""
    try:
        if path.is_file() and path.read_bytes() == content and stat.S_IMODE(path.stat().st_mode) == mode:
            return False
    except OSError:
        pass
    fresh = path.parent / f"{STAGING_PREFIX}{_unique()}"
    try:
        fresh.write_bytes(content)
        fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return True


def replace_link(link: Path, target: str) -> None:
    """Let a symbolic link point somewhere, in one step. Raises OSError."""
    try:
        if str(link.readlink()) == target:
            return
    except OSError:
        pass
    fresh = link.parent / f"{STAGING_PREFIX}{_unique()}"
    fresh.symlink_to(target)
    fresh.replace(link)


def drop_files(folder: Path, names: Collection[str]) -> None:
    """Remove files and links of these names, and what a process that died left; others' are let alone.

    One that can't be removed now, as NFS keeps a file that is still read, is left to the next time.
    """
    for path in folder.iterdir():
        if path.name in names or path.name.startswith(STAGING_PREFIX):
            with suppress(OSError):
                path.unlink()


def remove_tree(path: Path) -> None:
    """Delete a folder of ours, read-only folders inside it included; what is gone already is no error."""
    import shutil

    try:
        if path.is_symlink() or path.is_file():
            path.unlink()
            return
        for folder, names, _ in os.walk(path):
            for name in names:
                child = Path(folder, name)
                if not child.is_symlink() and not child.stat().st_mode & stat.S_IWUSR:
                    child.chmod(0o755)
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
    if error.errno in _IN_THE_WAY:
        return DiskError(f"{where} can't be made: a file is in the way", hint="set CVM_HOME to a folder")
    return DiskError(f"{where}: {str(error.strerror or error).lower()}")


def _unique() -> str:
    return os.urandom(4).hex()


def _move_aside(path: Path) -> Path:
    """Rename a folder to where nobody looks; one that can't be renamed is removed where it is."""
    aside = path.parent / f"{STAGING_PREFIX}old-{_unique()}"
    try:
        path.rename(aside)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # In a container, a folder of a lower layer: the overlay can't rename it.
        remove_tree(path)
    return aside


def _exchange(one: Path, other: Path) -> bool:
    """Let two paths change places in one step; returns whether the system and the file system can."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    if not renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _RENAME_EXCHANGE):
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))
