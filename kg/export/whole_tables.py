"""A whole snapshot as streams, which exports read in addition to the Store protocol.

Every stream has a fixed order and is read in batches, so that memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kg.base.ids import id_of
from kg.base.model import Entity
from kg.store import schema
from kg.store.sqlite import SQLiteStore

_BATCH = 1000  # entities at a time


def entities(store: SQLiteStore, *, properties_first: bool = False) -> Iterator[Entity]:
    """All entities: items by number and properties by number, or the other way round."""
    sides = ["< 0 ORDER BY id DESC", "> 0 ORDER BY id"]
    for side in sides if properties_first else reversed(sides):
        numbers = store.stream(f"SELECT id FROM entity WHERE id {side}")
        while batch := [id_of(number) for (number,) in islice(numbers, _BATCH)]:
            yield from store.entities(batch).values()


def datatypes(store: SQLiteStore) -> dict[str, str | None]:
    """Every property that is an entity here or has a statement here, by number, with its datatype or None."""
    known: dict[int, str | None] = {}
    for number, datatype in store.stream("SELECT DISTINCT property, datatype FROM statement"):
        # Where statements disagree (the datatype changed in the source), the smallest name is taken: a fixed choice.
        name = schema.DATATYPES[datatype] if isinstance(datatype, int) else datatype
        known[number] = min(filter(None, (known.get(number), name)), default=None)
    for number, datatype in store.stream("SELECT -id, datatype FROM entity WHERE id < 0"):
        known[number] = datatype or known.get(number)
    return {f"P{number}": known[number] for number in sorted(known)}


def undeclared_properties(store: SQLiteStore) -> Iterator[str]:
    """The properties of statements that are no entities here, by number."""
    query = "SELECT DISTINCT property FROM statement WHERE -property NOT IN (SELECT id FROM entity)"
    for number in sorted(number for (number,) in store.stream(query)):
        yield f"P{number}"


def redirects(store: SQLiteStore) -> Iterator[tuple[str, str]]:
    """(merged id, target id) in the order of the numbers."""
    for source, target in store.stream("SELECT source, target FROM redirect ORDER BY source"):
        yield id_of(source), id_of(target)


def value_counts(store: SQLiteStore) -> Iterator[tuple[str, str, int, int]]:
    """(property, target, entities of the whole source that carry it, entities here), by the two numbers."""
    # Two ordered scans side by side: a join finds no index, as the column `value` has no type of its own.
    held_rows = store.stream(
        "SELECT property, value, count(DISTINCT subject) FROM statement INDEXED BY statement_target"
        " WHERE type = 2 AND rank > 0 GROUP BY property, value ORDER BY property, value"
    )
    row = next(held_rows, None)
    query = "SELECT property, target, entities FROM value_count ORDER BY property, target"
    for prop, target, entities in store.stream(query):
        while row is not None and row[:2] < (prop, target):
            row = next(held_rows, None)
        here = row[2] if row is not None and row[:2] == (prop, target) else 0
        yield f"P{prop}", id_of(target), entities, here


def property_counts(store: SQLiteStore) -> Iterator[tuple[str, int, int]]:
    """(property, entities of the whole source that carry it, entities here), by number."""
    query = (
        "SELECT property, entities, coalesce(here, 0) FROM property_count LEFT JOIN (SELECT property,"
        " count(DISTINCT subject) AS here FROM statement WHERE rank > 0 AND type <> 1 GROUP BY property)"
        " USING (property) ORDER BY property"
    )
    for prop, entities, here in store.stream(query):
        yield f"P{prop}", entities, here
