"""The lock under which the store and the toolchains change: one writer a home."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from cvm.disk import disk_error, make_folder
from cvm.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cvm.layout import Layout


@contextmanager
def changing(layout: Layout, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the install lock, which the kernel frees when this process dies.

    When another process holds it, `on_wait` is told once which. Raises DiskError when the home
    can't be written.
    """
    from filelock import FileLock, Timeout

    make_folder(layout.locks)
    # Without locks of the kernel, a soft one would outlive a process that is killed.
    lock = FileLock(layout.install_lock, fallback_to_soft=False)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_wait(_holder(layout))
            lock.acquire()
    except NotImplementedError as error:
        raise DiskError(
            f"the file system of {layout.install_lock} has no locks", hint="set CVM_HOME to a folder on another one"
        ) from error
    except OSError as error:
        raise disk_error(error, layout.install_lock) from error
    try:
        # Only told to those who wait: `cvm prune` must work on a full disk.
        with suppress(OSError):
            (layout.locks / "holder").write_text(str(os.getpid()))
        yield
    finally:
        lock.release()


def _holder(layout: Layout) -> str:
    try:
        return "process " + (layout.locks / "holder").read_text()
    except OSError:
        return "another process"
