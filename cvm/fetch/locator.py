"""Finding out where archives are while others are downloaded."""

from __future__ import annotations

from collections import deque
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from cvm.fetch.jobs import FetchJob, Task

if TYPE_CHECKING:
    from collections.abc import Iterable

_THREADS = 4
_LOOK_AHEAD = 6


class Locator:
    """Locates jobs a few ahead of need, in threads that end with the process whatever they wait for.

    They are given out in their order: the largest has to start first, or it ends long after the others.
    """

    def __init__(self, jobs: Iterable[FetchJob]) -> None:
        self._waiting = deque(jobs)
        self._asked: SimpleQueue[_Question | None] = SimpleQueue()
        self._coming: deque[_Question] = deque()
        for _ in range(min(_THREADS, len(self._waiting))):
            Thread(target=_answer, args=(self._asked,), daemon=True).start()
        self._ask()

    @property
    def left(self) -> int:
        """How many jobs have not been taken yet."""
        return len(self._waiting) + len(self._coming)

    def take(self) -> Task | None:
        """Return the next job once it is located; raises what locating it raised."""
        if not self._coming or self._coming[0].answer is None:
            return None
        answer = self._coming.popleft().answer
        self._ask()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def close(self) -> None:
        """Let the threads end."""
        for _ in range(_THREADS):
            self._asked.put(None)

    def _ask(self) -> None:
        while self._waiting and len(self._coming) < _LOOK_AHEAD:
            question = _Question(self._waiting.popleft())
            self._coming.append(question)
            self._asked.put(question)


class _Question:
    """A job, and where it is as soon as that is known."""

    def __init__(self, job: FetchJob) -> None:
        self.job = job
        self.answer: Task | BaseException | None = None


def _answer(questions: SimpleQueue[_Question | None]) -> None:
    while (question := questions.get()) is not None:
        job = question.job
        try:
            question.answer = Task(job.wanted, job.locate(), job.unpacked)
        except BaseException as error:  # noqa: BLE001 - raised again by take()
            question.answer = error
