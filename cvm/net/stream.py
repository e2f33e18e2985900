"""The bytes of one archive in order: those that are here already, then the rest from its server."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from cvm.errors import DiskError, IntegrityError
from cvm.net.part import Part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from cvm.net.client import Client
    from cvm.net.location import Location
    from cvm.net.wanted import Wanted

_BLOCK = 1 << 18


class Watch(Protocol):
    """Who wants to know how a download goes on; called from the thread that reads the stream."""

    def started(self, here: int) -> None:
        """Bytes begin to come; so many of them were here already."""

    def progress(self, here: int) -> None:
        """So many bytes are here."""

    def retrying(self, reason: str) -> None:
        """A try failed for this reason, and another follows."""


def stream(
    wanted: Wanted, location: Location, part: Path, client: Client, watch: Watch
) -> Generator[bytes, None, None]:
    """Yield an archive's bytes; what comes from a server is kept in `part` as well, from which the next call goes on.

    All bytes are hashed on the way, and the end of the stream raises IntegrityError when they are not those that were
    wanted; `part` is empty then. Raises NetworkError, UnreachableError when no connection could be made, and DiskError.
    """
    path = location.path
    if path is not None:
        watch.started(0)
        return _local(wanted, path, watch)
    return _download(wanted, location, part, client, watch)


def _download(
    wanted: Wanted, location: Location, path: Path, client: Client, watch: Watch
) -> Generator[bytes, None, None]:
    from cvm.net.attempts import Attempts

    with Part(path) as part:
        if wanted.size and part.length > wanted.size:
            part.discard()
        watch.started(part.length)
        attempts = Attempts(wanted, location, client, watch)
        try:
            yield from _checked(wanted, _resumed(part, attempts, wanted), watch)
        except IntegrityError:
            part.discard()
            raise


def _resumed(part: Part, attempts: Attempts, wanted: Wanted) -> Iterator[bytes]:
    yield from part.blocks()
    if not wanted.size or part.length < wanted.size:
        for block in attempts.blocks(part.length):
            part.keep(block)
            yield block


def _checked(wanted: Wanted, blocks: Iterator[bytes], watch: Watch) -> Generator[bytes, None, None]:
    hashed, size = sha256(), 0
    for block in blocks:
        size += len(block)
        wanted.check_longest(size)
        hashed.update(block)
        watch.progress(size)
        yield block
    wanted.check(size, hashed.hexdigest())


def _local(wanted: Wanted, path: Path, watch: Watch) -> Generator[bytes, None, None]:
    try:
        yield from _checked(wanted, _read_file(path), watch)
    except IntegrityError as error:
        raise IntegrityError(error.message, hint=f"take {path} away, or download it again") from error


def _read_file(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                yield block
    except OSError as error:
        raise DiskError(f"{path} can't be read: {str(error.strerror or error).lower()}") from error


if TYPE_CHECKING:
    from cvm.net.attempts import Attempts
