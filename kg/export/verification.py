"""Full check of a snapshot file by its recorded counts and hash, and of a mirror by the file that it was made from."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kg.base.model import id_of
from kg.base.terms import normalise_anew
from kg.errors import DamagedMirrorError, DamagedSnapshotError
from kg.store import filling, schema
from kg.store.filling import content_hash
from kg.store.neo4j import Neo4jStore
from kg.store.neo4j_client import Address, Neo4jClient
from kg.store.neo4j_push import SCHEMA_NAMES, WRITE_SECONDS, wrong_counts
from kg.store.protocol import Store
from kg.store.sqlite import SQLiteStore, read_only

# Names are no part of the content's hash: (what is wrong, how many times).
_FAULTS: tuple[tuple[str, str], ...] = (
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
)
SAMPLE = 1_000  # entities compared in full by default
# Entries of the manifest about the content. The others describe the run, and differ when a snapshot is rebuilt.
_OF_CONTENT = ("counts", "languages", "schema_version", "snapshot_id", "time_aware")
_BATCH = 500  # entities read per round trip
_SHOWN = 5  # differing entities named in a message


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """The checks made, in order, and the faults found; none where the file is sound."""

    checked: tuple[str, ...]
    problems: tuple[str, ...]


def verify(path: Path | str, *, progress: Callable[[str], None] | None = None) -> Verification:
    """Check a snapshot; `progress` is called with the name of each check as it begins.

    Raises SnapshotError where the file is no snapshot or has another schema version, FileNotFoundError.
    """
    try:
        with SQLiteStore.open(path) as store, closing(read_only(path)) as connection:
            checks: dict[str, Callable[[], Iterator[str]]] = {
                "pages": lambda: _pages(connection),
                "counts": lambda: _counts(connection, store),
                "content": lambda: _content(connection, store),
                "names": lambda: _names(connection),
            }
            return _run(checks, progress)
    except DamagedSnapshotError as error:
        return Verification(checked=(), problems=(str(error),))


def _run(checks: Mapping[str, Callable[[], Iterator[str]]], progress: Callable[[str], None] | None) -> Verification:
    checked: list[str] = []
    problems: list[str] = []
    for name, check in checks.items():
        if progress is not None:
            progress(name)
        checked.append(name)
        try:
            problems += check()
        except (DamagedSnapshotError, DamagedMirrorError, sqlite3.DatabaseError) as error:
            problems.append(str(error))
        if problems and name == "pages":
            break  # further checks of a broken file mean nothing
    return Verification(checked=tuple(checked), problems=tuple(problems))


def _pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield f"SQLite: {message}"


def _counts(connection: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    stated: dict[str, Any] = store.manifest()["counts"]
    for name, count in filling.counts(connection).items():
        if stated.get(name) != count:
            yield f"{name}: the manifest says {stated.get(name)}, the file holds {count}"


def _content(connection: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    actual, stated = content_hash(connection), store.manifest()["snapshot_id"]
    if actual != stated:
        yield f"content: the snapshot id is {stated}, the content's is {actual}"


def _names(connection: sqlite3.Connection) -> Iterator[str]:
    connection.create_function("normalise", 1, normalise_anew, deterministic=True)
    for what, where in _FAULTS:
        (count,) = connection.execute(f"SELECT count(*) FROM {where}").fetchone()
        if count:
            yield f"{count} {what}"


def verify_mirror(
    address: str,
    against: Path | str,
    *,
    sample: int | None = SAMPLE,
    progress: Callable[[str], None] | None = None,
) -> Verification:
    """Compare a mirror with a snapshot file: all counts, and `sample` entities (None: all) in full.

    For the sampled entities also their names in the index and their counts are compared. `progress` is called with
    each check as it begins. Raises MirrorError where there is no mirror to read, and the errors of `SQLiteStore.open`.
    """
    with (
        SQLiteStore.open(against) as file,
        closing(read_only(against)) as connection,
        Neo4jStore.open(address, query_seconds=WRITE_SECONDS) as mirror,
        closing(Neo4jClient(Address.parse(address), query_seconds=WRITE_SECONDS)) as client,
    ):
        checks: dict[str, Callable[[], Iterator[str]]] = {
            "manifest": lambda: _manifest(file, mirror),
            "indexes": lambda: _indexes(client),
            "counts": lambda: iter(wrong_counts(client, connection)),
            "properties": lambda: _properties(file, mirror, connection),
            "entities": lambda: _entities(file, mirror, connection, sample),
        }
        return _run(checks, progress)


def _manifest(file: Store, mirror: Store) -> Iterator[str]:
    expected, actual = file.manifest(), mirror.manifest()
    for key in _OF_CONTENT:
        if expected.get(key) != actual.get(key):
            yield f"manifest: {key} is {actual.get(key)!r}, {expected.get(key)!r} in the snapshot"


def _indexes(client: Neo4jClient) -> Iterator[str]:
    states = dict(client.run("SHOW INDEXES YIELD name, state RETURN name, state"))
    for name in SCHEMA_NAMES:
        if (state := states.get(name, "missing")) != "ONLINE":
            yield f"index {name} is {state}; 'granola snapshot push' makes it"


def _properties(file: Store, mirror: Store, connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute("SELECT property FROM property_count UNION SELECT property FROM value_count")
    properties = [f"P{prop}" for (prop,) in rows]
    if file.property_counts(properties) != mirror.property_counts(properties):
        yield "the counts of entities a property differ"
    for prop in properties:
        if file.values_of(prop) != mirror.values_of(prop):
            yield f"the values of {prop} or their counts differ"


def _entities(file: Store, mirror: Store, connection: sqlite3.Connection, sample: int | None) -> Iterator[str]:
    drawn = "entity" if sample is None else f"(SELECT id FROM entity ORDER BY random() LIMIT {sample:d})"
    numbers = connection.execute(f"SELECT id FROM {drawn} ORDER BY id")
    wrong: list[str] = []
    while ids := [id_of(number) for (number,) in islice(numbers, _BATCH)]:
        expected, actual = file.entities(ids), mirror.entities(ids)
        wrong += [entity_id for entity_id in ids if expected.get(entity_id) != actual.get(entity_id)]
        names = [text for one in expected.values() for text in (*one.labels.values(), *sum(one.aliases.values(), ()))]
        pairs = {(s.property, s.target) for one in expected.values() for s in one.statements if s.target}
        if file.find(names) != mirror.find(names) or file.value_counts(pairs) != mirror.value_counts(pairs):
            yield "what is found by name, or how often values occur, differs for the compared entities"
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        yield f"{len(wrong)} entities differ: {', '.join(wrong[:_SHOWN])}{more}"
