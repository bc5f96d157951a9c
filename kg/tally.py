"""Counting (property, value) pairs over a whole source in bounded memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from kg.store.rows import number_of

_HELD = 500_000  # pairs in memory, some 70 MB


class Tally:
    """How many entities carry each property and each (property, entity value); spills to a database."""

    def __init__(self, path: Path, *, held: int = _HELD) -> None:
        self._held = held
        self._values: dict[tuple[int, int], int] = {}
        self._properties: dict[int, int] = {}
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
            "CREATE TABLE tally (property INTEGER, value INTEGER, n INTEGER, PRIMARY KEY (property, value))"
            " WITHOUT ROWID"
        )

    def add(self, edges: Iterable[tuple[str, str | None]]) -> None:
        """Count one entity by its (property, value) edges; repeats within it count once."""
        carried: set[tuple[int, int]] = set()
        properties: set[int] = set()
        for prop, target in edges:
            prop_number = int(prop[1:])
            properties.add(prop_number)
            if target is not None and (number := number_of(target)) is not None:
                carried.add((prop_number, number))
        for prop_number in properties:
            self._properties[prop_number] = self._properties.get(prop_number, 0) + 1
        values = self._values
        for pair in carried:
            values[pair] = values.get(pair, 0) + 1
        if len(values) > self._held:
            self._spill()

    def _spill(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            ((prop, value, n) for (prop, value), n in sorted(self._values.items())),
        )
        self._connection.execute("COMMIT")
        self._values.clear()

    def values(self) -> Iterator[tuple[int, int, int]]:
        """(property, value, entities), ascending."""
        self._spill()
        yield from self._connection.execute("SELECT property, value, n FROM tally ORDER BY property, value")

    def properties(self) -> list[tuple[int, int]]:
        """(property, entities), ascending."""
        return sorted(self._properties.items())

    def close(self) -> None:
        """Release the database."""
        self._connection.close()
