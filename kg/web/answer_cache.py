"""Answers cached on disk, so that an interrupted or repeated run requests only missing ones."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from kg.errors import SourceError

_CHUNK = 500  # keys per query; SQLite before 3.32 allows 999 parameters
_APPLICATION_ID = 0x4B474341  # "KGCA"


class Cache:
    """Key -> bytes with the time it was fetched, in one SQLite file. Safe for several threads and processes."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            (application_id,) = self._connection.execute("PRAGMA application_id").fetchone()
            tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}
            if application_id != _APPLICATION_ID and tables - {"answer"}:
                self._connection.close()
                raise SourceError(f"{path} is a database but no cache of answers; name another file")
            self._connection.executescript(
                f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA application_id = {_APPLICATION_ID};"
                "CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, fetched REAL NOT NULL, body BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
        except (sqlite3.Error, OSError) as error:
            raise SourceError(f"{path} cannot be used as a cache: {error}; name another file or remove it") from error
        self.first: float | None = None  # earliest and latest fetch time of the answers read or written
        self.last: float | None = None

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The cached answers for some keys; a damaged entry counts as missing."""
        listed = list(keys)
        bodies: dict[str, bytes] = {}
        for at in range(0, len(listed), _CHUNK):
            part = listed[at : at + _CHUNK]
            marks = ", ".join("?" * len(part))
            try:
                with self._lock:
                    rows = self._connection.execute(
                        f"SELECT key, fetched, body FROM answer WHERE key IN ({marks})", part
                    ).fetchall()
            except sqlite3.Error as error:
                raise SourceError(f"{self.path} cannot be read: {error}; remove it or name another") from error
            for key, fetched, body in rows:
                try:
                    bodies[key] = zlib.decompress(body)
                except zlib.error:
                    continue
                self._note(fetched)
        return bodies

    def put(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers, fetched now."""
        now = time.time()
        rows = [(key, now, zlib.compress(body, 1)) for key, body in answers.items()]
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", rows)
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise SourceError(f"{self.path}: an answer cannot be kept: {error}") from error
        self._note(now)

    def _note(self, moment: float) -> None:
        self.first = moment if self.first is None else min(self.first, moment)
        self.last = moment if self.last is None else max(self.last, moment)

    def close(self) -> None:
        """Release the file; one without an answer is removed."""
        (is_empty,) = self._connection.execute("SELECT NOT EXISTS (SELECT 1 FROM answer)").fetchone()
        self._connection.close()
        if is_empty:
            self.path.unlink(missing_ok=True)


def cache_key(*parts: str) -> str:
    """A key of fixed length for a request: service, parameters, id."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()
