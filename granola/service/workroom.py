"""A thread that does one piece of work after another, with a bounded queue.

Queued work is dropped where its request has left or its time is up. Work that has begun ends at its next access to the
snapshot, or runs to its end unused: no thread can be stopped from outside.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from granola.service.problems import HTTPProblem, overloaded, too_slow
from kg.errors import ForeseenError

T = TypeVar("T")


class OverTimeError(ForeseenError):
    """The time of a piece of work is used up."""


class Context:
    """The object that a thread works with; this one is for work that needs none."""

    def begin(self, until: float) -> None:
        """A piece of work begins that has its time until then, by `time.monotonic`."""

    def interrupted(self) -> None:
        """A piece of work has ended in the middle."""

    def close(self) -> None:
        """There is no more work."""


C = TypeVar("C", bound=Context)
ROOMS: WeakSet[Workroom[Any]] = WeakSet()  # of this process


class Workroom(Generic[C]):
    """The thread and its queue of at most `most` pieces of work, for one event loop."""

    def __init__(self, name: str, make: Callable[[], C], *, most: int) -> None:
        self._most = most
        self._thread = ThreadPoolExecutor(1, name)
        self._context = self._thread.submit(make)
        self._until = inf  # of the work in progress
        self.waiting = 0  # pieces of work that wait or are waited for
        ROOMS.add(self)

    async def opened(self) -> C:
        """The object that the thread works with. Raises the error of making it."""
        return await asyncio.wrap_future(self._context)

    async def run(self, work: Callable[[C], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and HTTPProblem where it is refused or over time."""
        if self.waiting >= self._most:
            raise overloaded("too many requests are waiting")
        until = time.monotonic() + seconds
        asked = [work]  # emptied when its request has left, so that its body is freed
        self.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(self._thread.submit(self._do, asked, until))
        except (TimeoutError, OverTimeError):
            raise too_slow(seconds) from None
        finally:
            asked.clear()
            self.waiting -= 1

    def _do(self, asked: list[Callable[[C], T]], until: float) -> T:
        work = next(iter(asked), None)
        if work is None or time.monotonic() > until:
            raise OverTimeError
        self._until = until
        context = self._context.result()
        context.begin(until)
        try:
            return work(context)
        except HTTPProblem:  # which is an answer, and no accident
            raise
        except BaseException:
            context.begin(float("inf"))
            context.interrupted()
            raise
        finally:
            self._until = inf

    def overdue(self, now: float) -> float:
        """Seconds that the work in progress is beyond its time."""
        return max(0.0, now - self._until)

    def close(self) -> None:
        """End the thread when all that was begun is done."""
        self._thread.submit(lambda: self._context.result().close())
        self._thread.shutdown(wait=False)
