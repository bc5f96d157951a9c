"""Work that does not end by itself is stopped at its time, and the thread goes on with the next."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from granola.service.incoming.problems import HTTPProblem
from granola.service.work.matching_thread import MatchingThread
from granola.service.work.snapshot_session import OverTimeError
from granola.service.work.work_thread import Stopper

pytestmark = pytest.mark.thorough("granola/service")


def endless() -> None:
    number = 0
    while True:
        with suppress(Exception):  # what swallows errors does not swallow this
            number += 1


async def swept(bench: MatchingThread, work: Callable[[], object], seconds: float) -> object:
    """The result of the work, the bench being looked after as the service does."""
    task = asyncio.ensure_future(bench.run(work, seconds=seconds))
    while not task.done():
        await asyncio.wait([task], timeout=0.02)
        bench.sweep(time.monotonic())
    return task.result()


def test_work_without_an_end_is_stopped_and_the_next_is_done() -> None:
    async def both() -> object:
        bench = MatchingThread(2)
        bench.open()
        try:
            began = time.monotonic()
            with pytest.raises(HTTPProblem, match="no answer within"):
                await swept(bench, endless, 0.1)
            assert time.monotonic() - began < 60
            return await swept(bench, lambda: "next", 60)
        finally:
            bench.close()

    assert asyncio.run(both()) == "next"


def test_a_stop_reaches_only_the_work_that_it_is_for() -> None:
    stopper = Stopper()

    def told_in_time() -> Iterator[str]:
        stopper.stop("another")
        yield stopper.run("this", lambda: "well")
        stopper.stop("this")  # too late
        yield stopper.run("that", lambda: sum(range(100_000)) and "well")

    assert list(told_in_time()) == ["well", "well"]
    with pytest.raises(OverTimeError):
        stopper.run("this", lambda: (stopper.stop("this"), endless()))
    for number in range(1_000):  # told at the very end of it
        with suppress(OverTimeError):
            stopper.run(number, lambda at=number: stopper.stop(at))
        assert stopper.run("next", lambda: "well") == "well"
