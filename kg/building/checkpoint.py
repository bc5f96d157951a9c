"""The work of a build on disk, so that the same command continues a killed build.

A folder next to the output contains the unfinished snapshot and, in a second database, all other state: the
request, the position in the sources, the ids seen, counts and rejects. Both change together, in one
transaction per checkpoint: a process may be killed at any moment. (A machine that loses its power may leave them
broken; then the build begins anew with --restart.)
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from kg.base.files import WorkFolder
from kg.building.id_sets import IdSet
from kg.errors import SnapshotError
from kg.store import filling

EVERY = 30.0  # seconds between checkpoints
_SNAPSHOT, _NOTES = "snapshot.sqlite", "notes.sqlite"
_TABLES = (
    "CREATE TABLE notes.state (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE notes.ids (name TEXT, page INTEGER, bits BLOB, PRIMARY KEY (name, page))",
    "CREATE TABLE notes.reject (at INTEGER PRIMARY KEY, reason TEXT, record TEXT)",
    "CREATE TABLE notes.edge (subject INTEGER, property INTEGER, value INTEGER,"
    " PRIMARY KEY (subject, property, value)) WITHOUT ROWID",
)


class BuildFolder(WorkFolder):
    """The folder of one build, locked while it is open. `state` is the state at the last checkpoint, {} at first.

    `request` must equal the request of the build that is continued. Raises SnapshotError where another build is
    running here or left its work, OSError and sqlite3.Error.
    """

    def __init__(self, out: Path, request: Mapping[str, Any], *, restart: bool = False) -> None:
        super().__init__(out, error=SnapshotError)
        self.connection = sqlite3.connect(":memory:")
        try:
            if restart:
                self.clear()
            self.state: dict[str, Any] = {}
            self._open(orjson.loads(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)))
        except BaseException:
            self.close() if self.kept else self.remove()
            raise
        self._last = time.monotonic()

    @property
    def snapshot(self) -> Path:
        """The snapshot under construction."""
        return self.path / _SNAPSHOT

    def _open(self, request: Any) -> None:
        if not self.snapshot.exists():  # killed when all was done but tidying up
            self.clear()
        self._connect()
        if self.state:
            self.check(self.state["request"], request)
            self.connection.execute("BEGIN")
            return
        # Nothing was kept yet, or not even the tables were finished.
        self.connection.close()
        self.clear()
        self._connect()
        for table in _TABLES:
            self.connection.execute(table)
        filling.prepare(self.connection, journal="DELETE")
        self.state = {"request": request}

    def _connect(self) -> None:
        connection = self.connection = sqlite3.connect(self.snapshot, isolation_level=None)
        connection.execute("ATTACH ? AS notes", (str(self.path / _NOTES),))
        for database in ("main", "notes"):
            filling.hasten(connection, journal="DELETE", database=database)
        with contextlib.suppress(sqlite3.OperationalError):  # no such table
            rows = connection.execute("SELECT key, value FROM notes.state").fetchall()
            self.state = {key: orjson.loads(value) for key, value in rows}

    @property
    def can_continue(self) -> bool:
        """Whether a later call can continue from a checkpoint; one that found the disk full does not count."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            return self.connection.execute("SELECT 1 FROM notes.state LIMIT 1").fetchone() is not None
        except sqlite3.Error:  # closed, as all is done but putting in place; or not to be asked any more
            return len(self.state) > 1

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() - self._last >= EVERY

    def checkpoint(self, state: Mapping[str, Any], ids: Mapping[str, IdSet]) -> None:
        """Keep everything up to now."""
        run = self.connection.execute
        self.note(state)
        for name, id_set in ids.items():
            self.connection.executemany(
                "INSERT OR REPLACE INTO notes.ids VALUES (?, ?, ?)",
                ((name, page, bits) for page, bits in id_set.pages()),
            )
        run("COMMIT")
        run("BEGIN")
        self._last = time.monotonic()

    def note(self, state: Mapping[str, Any]) -> None:
        """Keep a part of the state with the next commit."""
        self.state = {**self.state, **state}
        self.connection.executemany(
            "INSERT OR REPLACE INTO notes.state VALUES (?, ?)",
            ((key, orjson.dumps(value).decode()) for key, value in self.state.items()),
        )

    def ids(self, name: str) -> IdSet:
        """A set of ids as the last checkpoint had it."""
        return IdSet.from_pages(self.connection.execute("SELECT page, bits FROM notes.ids WHERE name = ?", (name,)))

    def close(self) -> None:
        """Leave the folder as the last checkpoint has it."""
        self.connection.close()
        super().close()

    def remove(self) -> None:
        """Close, and remove the folder."""
        self.connection.close()
        super().remove()
