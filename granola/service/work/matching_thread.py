"""A thread for work that needs no snapshot, matching and scoring, so that ladders do not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from granola.service.incoming.problems import overloaded, too_slow
from granola.service.work.snapshot_session import OverTimeError
from granola.service.work.work_thread import WorkThread

T = TypeVar("T")


class _Nothing:
    """What such work works with."""

    may_stop = True
    is_preparing = False

    def begin(self, until: float) -> None:
        """See `Context.begin`."""

    def interrupted(self) -> None:
        """See `Context.interrupted`."""

    def close(self) -> None:
        """See `Context.close`."""


class MatchingThread:
    """One thread, and at most so many pieces of work that wait for it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._worker: WorkThread[_Nothing] | None = None

    def open(self) -> None:
        """Start the thread."""
        self._worker = WorkThread("bench", _Nothing)
        self._worker.start()

    async def run(self, work: Callable[[], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and Problem where it is refused or over time."""
        assert self._worker is not None
        if self._worker.waiting >= self._most:
            raise overloaded("too many requests are being matched and scored", retry_after=2)
        try:
            return await self._worker.put(lambda _: work(), seconds)
        except OverTimeError:
            raise too_slow(seconds) from None

    def sweep(self, now: float) -> None:
        """Give up what is beyond its time."""
        if self._worker is not None:
            self._worker.sweep(now)

    def overdue(self, now: float) -> float:
        """See `WorkThread.overdue`."""
        return 0.0 if self._worker is None else self._worker.overdue(now)

    def close(self) -> None:
        """Take no more work."""
        if self._worker is not None:
            self._worker.retire()
