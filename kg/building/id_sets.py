"""Sets of ids, and counts of (property, value) pairs over a whole source, in bounded memory."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator

_HELD = 500_000  # keys in memory, some 70 MB


# A key is one integer where both parts are of the sizes that occur, else text: a Counter of integers is fast.
_VALUE_BITS, _PROPERTY_BITS = 43, 20  # 63 bits in all: keys fit an SQLite integer
_HALF = 1 << (_VALUE_BITS - 1)
_BITS = 16  # ids a page: 2**16, 8 KiB


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
    """The number of entities that have each property and each pair (property, entity value).

    Counts in memory spill to the table `notes.tally`, which is made if it is missing; counting continues from its rows.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._counts: Counter[int | str] = Counter()
        self._connection = connection
        connection.execute(
            "CREATE TABLE IF NOT EXISTS notes.tally (property INTEGER, value INTEGER, n INTEGER,"
            " PRIMARY KEY (property, value)) WITHOUT ROWID"
        )

    def add(self, keys: Iterable[int | str]) -> None:
        """Count entities, each by its keys without repeats."""
        self._counts.update(keys)
        if len(self._counts) > _HELD:
            self.spill()

    def spill(self) -> None:
        """Move the counts in memory into the table."""
        self._connection.executemany(
            "INSERT INTO notes.tally VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            sorted((*parts_of(key), n) for key, n in self._counts.items()),
        )
        self._counts.clear()

    def values(self) -> Iterator[tuple[int, int, int]]:
        """(property, value, entities), ascending."""
        self.spill()
        yield from self._connection.execute(
            "SELECT property, value, n FROM notes.tally WHERE value <> 0 ORDER BY property, value"
        )

    def properties(self) -> list[tuple[int, int]]:
        """(property, entities), ascending."""
        self.spill()
        rows = self._connection.execute("SELECT property, n FROM notes.tally WHERE value = 0 ORDER BY property")
        return rows.fetchall()


# A set of entity numbers that stays small: one bit each, in pages made where they are needed.


class IdSet:
    """Integers of either sign (see `number_of`), ascending. All of WikiData takes 20 MB."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._pages: dict[int, bytearray] = {}
        self._size = 0
        for number in numbers:
            self.add(number)

    @classmethod
    def from_pages(cls, pages: Iterable[tuple[int, bytes]]) -> IdSet:
        """The set whose `pages` were kept."""
        id_set = cls()
        for key, bits in pages:
            id_set._pages[key] = bytearray(bits)
            id_set._size += int.from_bytes(bits, "little").bit_count()
        return id_set

    def pages(self) -> Iterator[tuple[int, bytes]]:
        """The set in pieces, for keeping."""
        for key, bits in self._pages.items():
            yield key, bytes(bits)

    def add(self, number: int) -> bool:
        """Put a number in; whether it is new."""
        page = self._pages.get(number >> _BITS)
        if page is None:
            page = self._pages[number >> _BITS] = bytearray(1 << (_BITS - 3))
        at, bit = (number >> 3) & ((1 << (_BITS - 3)) - 1), 1 << (number & 7)
        if page[at] & bit:
            return False
        page[at] |= bit
        self._size += 1
        return True

    def __contains__(self, number: int) -> bool:
        page = self._pages.get(number >> _BITS)
        return page is not None and bool(page[(number >> 3) & ((1 << (_BITS - 3)) - 1)] & (1 << (number & 7)))

    def __iter__(self) -> Iterator[int]:
        for key in sorted(self._pages):
            for at, byte in enumerate(self._pages[key]):
                if byte:
                    first = (key << _BITS) + (at << 3)
                    yield from (first + bit for bit in range(8) if byte >> bit & 1)

    def __len__(self) -> int:
        return self._size
