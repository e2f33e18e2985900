"""Reading a stream in a thread of its own, so that receiving and unpacking take turns on no core."""

from __future__ import annotations

from queue import Empty, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

# Blocks of 256 KiB: as much as a core unpacks while another waits for a server's next answer.
_DEPTH = 32


def ahead(blocks: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    """Yield the blocks, which a thread reads in advance; raises what reading them raises."""
    queue: Queue[bytes | BaseException | None] = Queue(_DEPTH)
    stop = Event()
    Thread(target=_read, args=(blocks, queue, stop), daemon=True).start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        _empty(queue)


def _read(blocks: Generator[bytes, None, None], queue: Queue[bytes | BaseException | None], stop: Event) -> None:
    try:
        for block in blocks:
            queue.put(block)
            if stop.is_set():
                break
    except BaseException as error:  # noqa: BLE001 - raised again where the blocks are used
        queue.put(error)
    finally:
        blocks.close()
        queue.put(None)


def _empty(queue: Queue[bytes | BaseException | None]) -> None:
    """Let a thread go on that waits to put something in."""
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
