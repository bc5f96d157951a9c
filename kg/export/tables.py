"""A whole snapshot as streams: what exports and mirrors read besides the Store protocol.

Every stream is in a fixed order and read in batches, so memory does not grow with the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from kg.errors import DamagedSnapshotError
from kg.model import Entity
from kg.store import schema
from kg.store.rows import id_of
from kg.store.sqlite import SQLiteStore

_BATCH = 1000  # entities at a time


class SnapshotTables:
    """A snapshot file, opened for reading it through. Raises as `SQLiteStore.open` does."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.store = SQLiteStore.open(path)
        address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(address, uri=True, isolation_level=None)

    @property
    def manifest(self) -> Mapping[str, Any]:
        """See `Store.manifest`."""
        return self.store.manifest()

    def entities(self, *, properties_first: bool = False) -> Iterator[Entity]:
        """All entities: items by number and properties by number, or the other way round."""
        sides = ["< 0 ORDER BY id DESC", "> 0 ORDER BY id"]
        for side in sides if properties_first else reversed(sides):
            numbers = self._rows(f"SELECT id FROM entity WHERE id {side}")
            while batch := [id_of(number) for (number,) in islice(numbers, _BATCH)]:
                yield from self.store.entities(batch).values()

    def datatypes(self) -> dict[str, str | None]:
        """Every property that is an entity here or has a statement here, by number, with its datatype or None."""
        known: dict[int, str | None] = {}
        for number, datatype in self._rows("SELECT DISTINCT property, datatype FROM statement"):
            # Where statements disagree (the source's datatype changed), the smallest name stands.
            name = schema.DATATYPES[datatype] if isinstance(datatype, int) else datatype
            known[number] = min(filter(None, (known.get(number), name)), default=None)
        for number, datatype in self._rows("SELECT -id, datatype FROM entity WHERE id < 0"):
            known[number] = datatype or known.get(number)
        return {f"P{number}": known[number] for number in sorted(known)}

    def undescribed(self) -> Iterator[str]:
        """The properties of statements that are no entities here, by number."""
        query = "SELECT DISTINCT property FROM statement WHERE -property NOT IN (SELECT id FROM entity)"
        for number in sorted(number for (number,) in self._rows(query)):
            yield f"P{number}"

    def redirects(self) -> Iterator[tuple[str, str]]:
        """(merged id, target id) in the order of the numbers."""
        for source, target in self._rows("SELECT source, target FROM redirect ORDER BY source"):
            yield id_of(source), id_of(target)

    def value_counts(self) -> Iterator[tuple[str, str, int]]:
        """(property, target, entities of the whole source that carry it), by property, then target's number."""
        query = "SELECT property, target, entities FROM value_count ORDER BY property, target"
        for prop, target, entities in self._rows(query):
            yield f"P{prop}", id_of(target), entities

    def property_counts(self) -> Iterator[tuple[str, int]]:
        """(property, entities of the whole source that carry it), by number."""
        for prop, entities in self._rows("SELECT property, entities FROM property_count ORDER BY property"):
            yield f"P{prop}", entities

    def close(self) -> None:
        """Close the file. Closing twice does no harm."""
        self.store.close()
        self._connection.close()

    def __enter__(self) -> SnapshotTables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(query)
        except sqlite3.DatabaseError as error:
            raise DamagedSnapshotError(f"cannot read snapshot {self.path}: {error}") from error
