"""Checking a snapshot file through and through: what it says of itself against what it holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kg.errors import DamagedSnapshotError
from kg.store import filling, schema
from kg.store.file_header import check_kind, read_only
from kg.store.filling import content_hash
from kg.store.sqlite import SQLiteStore
from kg.terms import normalise_anew

_BATCH = 2000

# (what is wrong, how many times): rows that nothing can explain, whatever the source was.
_FAULTS: tuple[tuple[str, str], ...] = (
    ("statements of entities that are not there", "statement WHERE subject NOT IN (SELECT id FROM entity)"),
    ("terms of entities that are not there", "term WHERE entity NOT IN (SELECT id FROM entity)"),
    ("redirects to entities that are not there", "redirect WHERE target NOT IN (SELECT id FROM entity)"),
    ("redirects from entities that are there themselves", "redirect WHERE source IN (SELECT id FROM entity)"),
    ("statements of an unknown rank", "statement WHERE rank NOT IN (0, 1, 2)"),
    (
        "statements of an unknown type",
        f"statement WHERE type NOT BETWEEN {schema.SOMEVALUE} AND {schema.OTHER}",
    ),
    (
        "names that are not those of the terms",
        "name LEFT JOIN term USING (entity, language, kind, ordinal)"
        " WHERE term.text IS NULL OR normalise(term.text) <> name.key",
    ),
    (
        "labels and aliases that cannot be found by name",
        f"term WHERE kind <> {schema.DESCRIPTION} AND normalise(text) <> '' AND NOT EXISTS"
        " (SELECT 1 FROM name WHERE key = normalise(term.text) AND name.language = term.language"
        " AND name.kind = term.kind AND name.entity = term.entity AND name.ordinal = term.ordinal)",
    ),
    (
        "counts of a value below what the snapshot itself holds",
        "(SELECT property, value, count(DISTINCT subject) AS n FROM statement"
        " WHERE type = 2 AND rank > 0 AND value IN (SELECT id FROM entity) GROUP BY property, value) AS held"
        " LEFT JOIN value_count ON value_count.property = held.property AND target = value"
        " WHERE entities IS NULL OR entities < n",
    ),
    (
        "counts of a property below what the snapshot itself holds",
        "(SELECT property, count(DISTINCT subject) AS n FROM statement WHERE rank > 0 AND type <> 1"
        " GROUP BY property) AS held LEFT JOIN property_count USING (property)"
        " WHERE entities IS NULL OR entities < n",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """What was checked, in order, and what is wrong, empty where all is well."""

    checked: tuple[str, ...]
    problems: tuple[str, ...]


def verify(path: Path | str, *, progress: Callable[[str], None] | None = None) -> Verification:
    """Check a snapshot; `progress` is told the name of each check as it begins.

    Raises SnapshotError where the file is no snapshot or of another schema version, FileNotFoundError.
    """
    path = Path(path)
    check_kind(path)
    checked: list[str] = []
    problems: list[str] = []
    try:
        with SQLiteStore.open(path) as store, closing(read_only(path)) as connection:
            for name, check in _CHECKS:
                if progress is not None:
                    progress(name)
                checked.append(name)
                problems += check(connection, store)
                if problems and check in (_pages, _tables):
                    break  # what a broken file answers to anything else means nothing
    except (DamagedSnapshotError, sqlite3.DatabaseError) as error:
        problems.append(str(error))
    return Verification(checked=tuple(checked), problems=tuple(problems))


def _pages(connection: sqlite3.Connection, _: SQLiteStore) -> Iterator[str]:
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield f"SQLite: {message}"


def _tables(connection: sqlite3.Connection, _: SQLiteStore) -> Iterator[str]:
    query = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(f"{schema.TABLES}; {schema.INDEX}")
        expected = dict(model.execute(query))
    actual = dict(connection.execute(query))
    for name in sorted(expected.keys() | actual.keys()):
        if name not in actual:
            yield f"table or index {name} is missing"
        elif actual[name] != expected.get(name):
            yield f"table or index {name} is not this version's"


def _counts(connection: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    stated: dict[str, Any] = store.manifest()["counts"]
    for name, count in filling.counts(connection).items():
        if stated.get(name) != count:
            yield f"{name}: the manifest says {stated.get(name)}, the file holds {count}"


def _content(connection: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    actual, stated = content_hash(connection), store.manifest()["snapshot_id"]
    if actual != stated:
        yield f"content: the snapshot id is {stated}, the content's is {actual}"


def _references(connection: sqlite3.Connection, _: SQLiteStore) -> Iterator[str]:
    connection.create_function("normalise", 1, normalise_anew, deterministic=True)
    for what, where in _FAULTS:
        (count,) = connection.execute(f"SELECT count(*) FROM {where}").fetchone()
        if count:
            yield f"{count} {what}"


def _values(_: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    unread: list[str] = []
    ids = store.ids()
    while batch := list(islice(ids, _BATCH)):
        unread += _unread(store, batch)
    if unread:
        yield f"{len(unread)} entities cannot be read, the first: {unread[0]}"


def _unread(store: SQLiteStore, batch: list[str]) -> list[str]:
    try:
        store.entities(batch)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        if len(batch) == 1:
            return [f"{batch[0]}: {error}"]
        half = len(batch) // 2
        return _unread(store, batch[:half]) + _unread(store, batch[half:])
    return []


_CHECKS = (
    ("pages", _pages),
    ("tables", _tables),
    ("counts", _counts),
    ("content", _content),
    ("references", _references),
    ("values", _values),
)
