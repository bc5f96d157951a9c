"""A thread that does one piece of work after another, and refuses more than may wait for it.

Work is bounded before it begins. Whoever waits for it is told when its time is up; the work itself ends at its next
look into the snapshot, or goes on to its end and is used by nobody: no thread can be stopped from outside.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from granola.service.incoming.problems import HTTPProblem, overloaded, too_slow
from kg.errors import ForeseenError

T = TypeVar("T")


class OverTimeError(ForeseenError):
    """The time of a piece of work is used up."""


class Context:
    """What a thread works with; this one is for work that needs nothing."""

    def begin(self, until: float) -> None:
        """A piece of work begins that has its time until then, by `time.monotonic`."""

    def interrupted(self) -> None:
        """A piece of work has ended in the middle."""

    def close(self) -> None:
        """There is no more work."""


C = TypeVar("C", bound=Context)
ROOMS: WeakSet[Workroom[Any]] = WeakSet()  # of this process, whose threads have not ended


class Workroom(Generic[C]):
    """The thread and what waits for it, at most `most` pieces of work. All but the work is done on the loop's thread.

    `opened` is what `make` returns, in the thread, or raises what that raises.
    """

    def __init__(self, name: str, make: Callable[[], C], *, most: int) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[C] = self._loop.create_future()
        self._most = most
        self._queue: SimpleQueue[tuple[Callable[[C], Any], asyncio.Future[Any]] | None] = SimpleQueue()
        self._until: dict[asyncio.Future[Any], float] = {}  # of what waits or is being done
        ROOMS.add(self)
        threading.Thread(target=self._run, args=(make,), name=name, daemon=True).start()

    @property
    def waiting(self) -> int:
        """Pieces of work that wait or are being done."""
        return len(self._until)

    async def run(self, work: Callable[[C], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and HTTPProblem where it is refused or over time."""
        if len(self._until) >= self._most:
            raise overloaded("too many requests are waiting")
        answer: asyncio.Future[T] = self._loop.create_future()
        self._until[answer] = time.monotonic() + seconds
        self._queue.put((work, answer))
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except (TimeoutError, OverTimeError):
            raise too_slow(seconds) from None

    def overdue(self, now: float) -> float:
        """For how many seconds the oldest work has gone on beyond its time."""
        return max((now - until for until in self._until.values()), default=0.0)

    def close(self) -> None:
        """End the thread when all that was queued is done."""
        self._queue.put(None)

    def _run(self, make: Callable[[], C]) -> None:
        try:
            context = make()
        except Exception as error:
            self._tell(self.opened, None, error)
            return
        self._tell(self.opened, context, None)
        while (task := self._queue.get()) is not None:
            work, answer = task
            until = self._until[answer]
            result: Any = None
            failed: Exception | None = OverTimeError()
            try:
                if not answer.cancelled() and time.monotonic() < until:
                    context.begin(until)
                    result, failed = work(context), None
            except Exception as error:
                failed = error
                if not isinstance(error, HTTPProblem):  # which is an answer, and no accident
                    context.begin(float("inf"))
                    context.interrupted()
            self._tell(answer, result, failed)
        context.close()

    def _tell(self, answer: asyncio.Future[Any], result: Any, failed: Exception | None) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._settle, answer, result, failed)

    def _settle(self, answer: asyncio.Future[Any], result: Any, failed: Exception | None) -> None:
        self._until.pop(answer, None)
        if answer.done():
            return
        if failed is None:
            answer.set_result(result)
        else:
            answer.set_exception(failed)
