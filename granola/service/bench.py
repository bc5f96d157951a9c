"""A thread for work that needs no snapshot, matching and scoring, so that ladders do not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from granola.service.problems import overloaded, too_slow

T = TypeVar("T")


class Bench:
    """One thread, and at most so many pieces of work that wait for it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bench")

    async def run(self, work: Callable[[], T], *, seconds: float) -> T:
        """The result of the work. Raises what it raises, and Problem where it is refused or over time."""
        if self._waiting >= self._most:
            raise overloaded("too many requests are being matched and scored", retry_after=2)
        self._waiting += 1
        future = self._thread.submit(work)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _call(loop, self._done))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise too_slow(seconds) from None

    def _done(self) -> None:
        self._waiting -= 1

    def close(self) -> None:
        """Take no more work."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _call(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(what)
