"""A thread that does one piece of work after another, and refuses more than may wait for it.

Work is bounded before it begins. Whoever waits for it is told when its time is up; the work itself ends at its next
look into the snapshot, or goes on to its end and is used by nobody: no thread can be stopped from outside.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
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
ROOMS: WeakSet[Workroom[Any]] = WeakSet()  # of this process


class Workroom(Generic[C]):
    """The thread and what waits for it, at most `most` pieces of work."""

    def __init__(self, name: str, make: Callable[[], C], *, most: int) -> None:
        self._most = most
        self._thread = ThreadPoolExecutor(1, name)
        self._context = self._thread.submit(make)
        self._until: dict[Future[Any], float] = {}  # of what waits or is being done
        ROOMS.add(self)

    async def opened(self) -> C:
        """What the thread works with. Raises what making that has raised."""
        return await asyncio.wrap_future(self._context)

    @property
    def waiting(self) -> int:
        """Pieces of work that wait or are being done."""
        return len(self._until)

    async def run(self, work: Callable[[C], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and HTTPProblem where it is refused or over time."""
        if len(self._until) >= self._most:
            raise overloaded("too many requests are waiting")
        until = time.monotonic() + seconds
        task = self._thread.submit(self._do, work, until)
        self._until[task] = until
        task.add_done_callback(self._until.pop)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(task)
        except (TimeoutError, OverTimeError):
            raise too_slow(seconds) from None

    def _do(self, work: Callable[[C], T], until: float) -> T:
        if time.monotonic() > until:
            raise OverTimeError
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

    def overdue(self, now: float) -> float:
        """For how many seconds the oldest work has gone on beyond its time."""
        return max((now - until for until in list(self._until.values())), default=0.0)

    def close(self) -> None:
        """End the thread when all that was begun is done."""
        self._thread.submit(lambda: self._context.result().close())
        self._thread.shutdown(wait=False)
