"""Counting (property, value) pairs over a whole source in bounded memory."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator

_HELD = 500_000  # keys in memory, some 70 MB


# A key is one integer where both parts are of the sizes that occur, else text: a Counter of integers is fast.
_VALUE_BITS, _PROPERTY_BITS = 43, 20  # 63 bits in all: keys fit an SQLite integer
_HALF = 1 << (_VALUE_BITS - 1)


def key_of(prop: int, value: int = 0) -> int | str:
    """One key for a property, or for a property and an entity's number."""
    if -_HALF < value < _HALF and prop < 1 << _PROPERTY_BITS:
        return prop << _VALUE_BITS | (value + _HALF)
    return f"{prop} {value}"


def parts_of(key: int | str) -> tuple[int, int]:
    """The inverse of `key_of`; the value is 0 for a property alone."""
    if isinstance(key, str):
        prop, value = key.split()
        return int(prop), int(value)
    return key >> _VALUE_BITS, (key & ((1 << _VALUE_BITS) - 1)) - _HALF


class PairCounts:
    """The number of entities that have each property and each pair (property, entity value); spills to a table.

    `table` is created in the database of `connection` if it is missing; counting continues from its rows.
    """

    def __init__(self, connection: sqlite3.Connection, table: str = "tally", *, held: int | None = None) -> None:
        self._held = _HELD if held is None else held
        self._counts: Counter[int | str] = Counter()
        self._connection = connection
        self._table = table
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {table} (property INTEGER, value INTEGER, n INTEGER,"
            " PRIMARY KEY (property, value)) WITHOUT ROWID"
        )

    def add(self, keys: Iterable[int | str]) -> None:
        """Count entities, each by its keys without repeats."""
        self._counts.update(keys)
        if len(self._counts) > self._held:
            self.spill()

    def spill(self) -> None:
        """Move the counts in memory into the table."""
        self._connection.executemany(
            f"INSERT INTO {self._table} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            sorted((*parts_of(key), n) for key, n in self._counts.items()),
        )
        self._counts.clear()

    def values(self) -> Iterator[tuple[int, int, int]]:
        """(property, value, entities), ascending."""
        self.spill()
        yield from self._connection.execute(
            f"SELECT property, value, n FROM {self._table} WHERE value <> 0 ORDER BY property, value"
        )

    def properties(self) -> list[tuple[int, int]]:
        """(property, entities), ascending."""
        self.spill()
        return self._connection.execute(
            f"SELECT property, n FROM {self._table} WHERE value = 0 ORDER BY property"
        ).fetchall()
