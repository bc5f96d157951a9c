"""Where requests meet the snapshot: threads that each hold it open and do one piece of work after another.

A snapshot file is read by one thread: its work is computing, and Python computes in one thread at a time. More
processes make more of it. Whoever would have to wait too long is refused at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from granola.service.incoming.problems import TOO_MANY_WAIT, overloaded, too_slow
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import OverTimeError, SnapshotSession
from granola.service.work.work_thread import WorkThread

T = TypeVar("T")
Reader = WorkThread[SnapshotSession]
log = logging.getLogger("granola.service")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """A result, and the snapshot that it is from."""

    value: T
    snapshot_id: str


class Lease:
    """The same reader for several pieces of work, so that all of them see one snapshot."""

    def __init__(self, desk: SnapshotPool, reader: Reader) -> None:
        self._desk = desk
        self._reader = reader
        self.snapshot_id = reader.opened.result().snapshot_id

    async def run(self, work: Callable[[SnapshotSession], T], *, seconds: float) -> T:
        """The result of the work, when those that wait have had their turn."""
        return await self._desk._answer(self._reader, work, seconds)


class SnapshotPool:
    """The readers of one process. Everything but the readers' work happens on the loop's thread."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self._readers: list[Reader] = []
        self._retiring: list[Reader] = []
        self._batches = 0
        self._reloading = False
        self._asked_again = False

    async def open(self) -> None:
        """Open the snapshot. Raises what opening it raises."""
        self._readers = await self._started()

    async def reload(self) -> bool:
        """Take up the snapshot anew, as it is now; requests are answered from the old one until it is ready.

        The old one stays, with a line in the log, where the new one cannot be opened. Whoever asks while that is under
        way has it done once more.
        """
        self._asked_again = self._reloading
        if self._reloading:
            return False
        self._reloading = True
        try:
            taken = await self._taken_up()
            while self._asked_again:
                self._asked_again = False
                taken = await self._taken_up() or taken
        finally:
            self._reloading = False
        return taken

    async def _taken_up(self) -> bool:
        try:
            fresh = await self._started()
        except Exception as error:
            log.error("the snapshot is not replaced: %s", error)
            return False
        old, self._readers = self._readers, fresh
        for reader in old:
            reader.retire()
        self._retiring += old
        log.warning("now serving snapshot %s", self.snapshot_id)
        return True

    async def close(self) -> None:
        """End the threads when they have done what they were given."""
        readers, self._readers = self._readers, []
        for reader in readers:
            reader.retire()
        for reader in readers:
            await asyncio.to_thread(reader.join, 5.0)

    @property
    def is_open(self) -> bool:
        """Whether requests can be answered."""
        return bool(self._readers) and all(reader.is_alive() for reader in self._readers)

    @property
    def snapshot_id(self) -> str:
        """The snapshot that is served at the moment."""
        return self._readers[0].opened.result().snapshot_id

    @property
    def manifest(self) -> Any:
        """Its manifest."""
        return self._readers[0].opened.result().manifest

    @property
    def waiting(self) -> int:
        """Pieces of work that wait or are being done."""
        return sum(reader.waiting for reader in self._readers)

    @property
    def is_full(self) -> bool:
        """Whether the next request would be refused."""
        return self.waiting >= self.settings.waiting

    async def run(self, work: Callable[[SnapshotSession], T]) -> Done[T]:
        """The result of a piece of work. Raises what it raises, and Problem where it is refused or over time."""
        if self.is_full:
            raise overloaded(TOO_MANY_WAIT)
        reader = min(self._readers, key=lambda one: one.waiting)
        value = await self._answer(reader, work, self.settings.seconds)
        return Done(value, reader.opened.result().snapshot_id)

    @asynccontextmanager
    async def lease(self, *, counted: bool = True) -> AsyncIterator[Lease]:
        """A reader for a batch, or for some steps that are not counted as one.

        Raises Problem where too many batches are at work, and where too much waits.
        """
        if not counted and self.is_full:
            raise overloaded(TOO_MANY_WAIT)
        if counted and self._batches >= self.settings.batches:
            raise overloaded(
                f"{self._batches} batches are being answered, which is as many as at a time", retry_after=5
            )
        reader = min(self._readers, key=lambda one: (one.leases, one.waiting))
        self._batches += counted
        reader.leases += 1
        try:
            yield Lease(self, reader)
        finally:
            self._batches -= counted
            reader.release()

    def sweep(self, now: float) -> None:
        """Give up what is beyond its time."""
        self._retiring = [reader for reader in self._retiring if reader.is_alive()]
        for reader in (*self._readers, *self._retiring):
            reader.sweep(now)

    def overdue(self, now: float) -> float:
        """See `WorkThread.overdue`: of all readers."""
        return max((reader.overdue(now) for reader in (*self._readers, *self._retiring)), default=0.0)

    async def _answer(self, reader: Reader, work: Callable[[SnapshotSession], T], seconds: float) -> T:
        try:
            return await reader.put(work, seconds)
        except OverTimeError:
            raise too_slow(seconds) from None

    async def _started(self) -> list[Reader]:
        readers = [WorkThread("reader", self._opened) for _ in range(self.settings.threads)]
        for reader in readers:
            reader.start()
        try:
            for reader in readers:
                await asyncio.wrap_future(reader.opened)
        except BaseException:
            for reader in readers:
                reader.retire()
            raise
        return readers

    def _opened(self) -> SnapshotSession:
        own = self.settings
        holding = SnapshotSession(own.snapshot, language=own.language, seconds=own.seconds)
        holding.prepare()
        return holding
