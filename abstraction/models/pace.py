"""How fast a server is asked: so many calls at once, so many a second, and fewer when it says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOOK = 1.0  # seconds after which who waits looks again whether the run still goes on


class Stopped(Exception):  # noqa: N818 - no error: the caller wants no more
    """The run ended while a call waited."""


class Pace:
    """The gate of one server, for all threads that ask it.

    A server that asks for less is left alone for the time it names, and from then on fewer calls are under way at
    once: half as many each time that it asks again, one more for each round of calls that all went well.
    """

    def __init__(self, at_once: int, rate: float | None = None) -> None:
        """`at_once` calls under way at most; `rate` calls begun a second at most, None for no limit."""
        self._most = at_once
        self._limit = float(at_once)
        self._gap = 0.0 if rate is None else 1.0 / rate
        self._under_way = 0
        self._next = 0.0  # when the rate lets the next call begin
        self._closed_until = 0.0
        self._slowed_at = 0.0
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        """How many calls may be under way now."""
        return int(self._limit)

    @contextmanager
    def passing(self, stop: threading.Event) -> Iterator[float]:
        """Wait for a place and for the time, hold the place for the block. Gives the time of the call's beginning.

        Raises Stopped when `stop` is set before.
        """
        with self._changed:
            while True:
                if stop.is_set():
                    raise Stopped
                now = time.monotonic()
                wait = max(self._closed_until, self._next) - now
                if wait <= 0 and self._under_way < self.limit:
                    break
                self._changed.wait(min(wait, _LOOK) if wait > 0 else _LOOK)
            self._under_way += 1
            self._next = max(now, self._next) + self._gap
        try:
            yield now
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify()

    def went_well(self) -> None:
        """A call was answered."""
        if self._limit < self._most:
            with self._changed:
                self._limit = min(self._most, self._limit + 1.0 / self._limit)
                self._changed.notify()

    def slow_down(self, seconds: float, begun: float) -> None:
        """A call begun at `begun` was turned away: let nobody pass for so long."""
        with self._changed:
            now = time.monotonic()
            self._closed_until = max(self._closed_until, now + seconds)
            if begun >= self._slowed_at:  # one call turned away of each round counts
                self._limit = max(1.0, self._limit / 2)
                self._slowed_at = now
