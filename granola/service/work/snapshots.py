"""The snapshot that is served, opened once by each thread that reads it, and taken up anew where it is replaced."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from granola.service.incoming.problems import overloaded
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.workroom import Workroom
from kg.errors import KGError
from kg.store import is_address, open_store

T = TypeVar("T")
LOOKS_A_MIRROR = 15.0  # seconds between two looks at which snapshot a server has
log = logging.getLogger("granola.service")


class Generation:
    """A snapshot with the thread that reads it. It is closed when nobody uses it any more."""

    snapshot_id = ""
    manifest: Any = None

    def __init__(self, settings: ServiceSettings) -> None:
        self.reader = Workroom("reader", lambda: SnapshotSession(settings).prepared(), most=settings.waiting)
        self._settings = settings
        self._users = 0
        self._is_retired = False

    async def opened(self) -> Generation:
        """This, when its thread is ready. Raises what opening the snapshot raises."""
        session = await self.reader.opened()
        self.snapshot_id, self.manifest = session.snapshot_id, session.manifest
        return self

    async def run(self, work: Callable[[SnapshotSession], T]) -> T:
        """The result of a piece of work. Raises as `Workroom.run`."""
        with self.held():
            return await self.reader.run(work, seconds=self._settings.seconds)

    @contextmanager
    def held(self) -> Iterator[Generation]:
        """This generation for several pieces of work: it is not closed meanwhile."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            if self._is_retired:
                self.retire()

    def retire(self) -> None:
        """Close it as soon as nobody uses it."""
        self._is_retired = True
        if not self._users:
            self.reader.close()


class Snapshots:
    """The snapshot that is served with its serial number, and the check for a replaced file."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._current: Generation | None = None
        self._seen: object = None  # identity of the file at the last check
        self._looked = 0.0

    @property
    def is_open(self) -> bool:
        """Whether requests can be answered."""
        return self._current is not None

    @property
    def current(self) -> Generation:
        """The snapshot that is served. Raises HTTPProblem where none is open yet."""
        if self._current is None:
            raise overloaded("the snapshot is being opened", retry_after=2)
        return self._current

    async def open(self) -> None:
        """Open what is there now, and let it be served. Raises what opening it raises."""
        self._seen = await asyncio.to_thread(self._identity)
        fresh = await Generation(self._settings).opened()
        if self._current is not None:
            self._current.retire()
        self._current = fresh

    async def look(self) -> bool:
        """Open the snapshot, or take up another that has been put into the place of this one; whether that was done.

        Until it is ready, requests are answered from the old one, which stays, with one line in the log, where the new
        one cannot be opened. Raises what opening the first one raises.
        """
        if self._current is None:
            await self.open()
            return True
        now = asyncio.get_running_loop().time()
        if is_address(self._settings.snapshot) and now - self._looked < LOOKS_A_MIRROR:
            return False
        self._looked = now
        there = await asyncio.to_thread(self._identity)
        if there is None or there == self._seen:
            return False
        try:
            await self.open()
        except Exception as error:
            log.error("the snapshot is not replaced, and the old one is served: %s", error)
            self._seen = there
            return False
        log.warning("now serving snapshot %s", self.current.snapshot_id)
        return True

    def _identity(self) -> object:
        """The identity of the file or mirror at the place, None where there is none."""
        where = self._settings.snapshot
        with suppress(OSError, KGError):
            if not is_address(where):
                found = os.stat(where)  # opening a pipe would wait for ever
                there = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
                return there if stat.S_ISREG(found.st_mode) else None
            store = open_store(where)
            try:
                return str(store.manifest()["snapshot_id"])
            finally:
                store.close()
        return None
