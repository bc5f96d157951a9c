"""Memory that a supervisor shares with its workers: until when each is known to be well, and how many were replaced."""

from __future__ import annotations

import mmap
from collections.abc import Mapping

REASONS = ("hung", "ended")  # why a worker was replaced: it did not answer any more, or its process ended by itself
_SIZE = 8  # bytes of a double: it is written at once, so that no reader sees half of it


class Heartbeats:
    """Of `workers` processes that are forks of this one. Times are those of `time.monotonic`, in seconds."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._values = memoryview(mmap.mmap(-1, _SIZE * (workers + len(REASONS)))).cast("d")

    def beat(self, worker: int, until: float) -> None:
        """Tell that the worker need not be heard of before `until`."""
        self._values[worker] = until

    def until(self, worker: int) -> float:
        """What was told last."""
        return self._values[worker]

    def count(self, reason: str) -> None:
        """Count a worker that was replaced. Of the supervisor alone."""
        self._values[self._workers + REASONS.index(reason)] += 1

    def replaced(self) -> Mapping[str, int]:
        """How many workers were replaced so far, by reason."""
        return {reason: int(self._values[self._workers + at]) for at, reason in enumerate(REASONS)}
