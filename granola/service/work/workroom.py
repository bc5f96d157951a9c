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
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from granola.service.incoming.problems import HTTPProblem, overloaded, too_slow
from kg.errors import ForeseenError

T = TypeVar("T")


class OverTimeError(ForeseenError):
    """The time of a piece of work is used up."""


class Context(Protocol):
    """What a thread works with."""

    def begin(self, until: float) -> None:
        """A piece of work begins that has its time until then, by `time.monotonic`."""

    def interrupted(self) -> None:
        """A piece of work has ended in the middle."""

    def close(self) -> None:
        """There is no more work."""


class NoContext:
    """What work that needs nothing works with."""

    def begin(self, until: float) -> None:
        """See `Context.begin`."""

    def interrupted(self) -> None:
        """See `Context.interrupted`."""

    def close(self) -> None:
        """See `Context.close`."""


C = TypeVar("C", bound=Context)


@dataclass(slots=True, eq=False)
class _Task(Generic[C]):
    work: Callable[[C], Any]
    until: float
    answer: asyncio.Future[Any]


class Workroom(Generic[C]):
    """The thread and what waits for it, at most `most` pieces of work. All but the work is done on the loop's thread.

    `opened` is what `make` returns, in the thread, or raises what that raises.
    """

    def __init__(self, name: str, make: Callable[[], C], *, most: int) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[C] = self._loop.create_future()
        self._make = make
        self._most = most
        self._queue: SimpleQueue[_Task[C] | None] = SimpleQueue()
        self._tasks: set[_Task[C]] = set()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    @property
    def waiting(self) -> int:
        """Pieces of work that wait or are being done."""
        return len(self._tasks)

    async def run(self, work: Callable[[C], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and HTTPProblem where it is refused or over time."""
        if len(self._tasks) >= self._most:
            raise overloaded("too many requests are waiting")
        task = _Task(work, time.monotonic() + seconds, self._loop.create_future())
        self._tasks.add(task)
        self._queue.put(task)
        try:
            async with asyncio.timeout(seconds):
                result: T = await task.answer
                return result
        except (TimeoutError, OverTimeError):
            raise too_slow(seconds) from None

    def overdue(self, now: float) -> float:
        """For how many seconds the oldest work has gone on beyond its time."""
        return max((now - task.until for task in self._tasks), default=0.0)

    def close(self) -> None:
        """End the thread when all that was queued is done."""
        self._queue.put(None)

    def _run(self) -> None:
        try:
            context = self._make()
        except Exception as error:
            self._tell(self._opened, None, error)
            return
        self._tell(self._opened, context, None)
        while (task := self._queue.get()) is not None:
            result: Any = None
            failed: Exception | None = OverTimeError()
            try:
                if not task.answer.cancelled() and time.monotonic() < task.until:
                    context.begin(task.until)
                    result, failed = task.work(context), None
            except Exception as error:
                failed = error
                if not isinstance(error, HTTPProblem):  # which is an answer, and no accident
                    context.begin(float("inf"))
                    context.interrupted()
            self._tell(self._settle, task, result, failed)
        context.close()

    def _tell(self, what: Callable[..., None], *more: Any) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(what, *more)

    def _opened(self, context: C | None, failed: Exception | None) -> None:
        _finish(self.opened, context, failed)

    def _settle(self, task: _Task[C], result: Any, failed: Exception | None) -> None:
        self._tasks.discard(task)
        _finish(task.answer, result, failed)


def _finish(future: asyncio.Future[Any], result: Any, failed: Exception | None) -> None:
    if future.done():
        return
    if failed is None:
        future.set_result(result)
    else:
        future.set_exception(failed)
