"""Writing a snapshot file: tables, rows, data derived from the rows, and the hash of its content."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import orjson

from kg.base.model import Entity, normalise_uncached, required_signed_number
from kg.store import schema
from kg.store.entity_rows import Record, RowGroups, record_of

# The content of a snapshot as one hash, independent of file, machine and time.
#
# Each entity is hashed by itself and the hashes are added up, so that the sum can be made in any order, by several
# processes, while entities come and go.

_SIZE = 32  # bytes of SHA-256
_COUNTED: Mapping[str, str] = {
    "redirect": "SELECT source, target FROM redirect ORDER BY source",
    "value_count": "SELECT property, target, entities FROM value_count ORDER BY property, target",
    "property_count": "SELECT property, entities FROM property_count ORDER BY property",
}
_ROWS_A_FETCH = 5000  # rows per fetch from the cursor
_encode = msgspec.msgpack.Encoder().encode
_BATCH = 500  # entities at a time
_ROWS = 50  # rows an INSERT
_COUNTS: Mapping[str, Mapping[str, str]] = {  # grouped by table, so that each is read once
    "entity": {"entities": "count(*)", "items": "sum(id > 0)", "properties": "sum(id < 0)"},
    "statement": {
        "statements": "count(*)",
        "preferred": f"sum(rank = {schema.PREFERRED})",
        "normal": f"sum(rank = {schema.NORMAL})",
        "deprecated": f"sum(rank = {schema.DEPRECATED})",
        "qualified_statements": "count(qualifiers)",
        "qualifiers": "sum(json_array_length(qualifiers))",
    },
    "term": {
        "labels": f"sum(kind = {schema.LABEL})",
        "aliases": f"sum(kind = {schema.ALIAS})",
        "descriptions": f"sum(kind = {schema.DESCRIPTION})",
    },
    "redirect": {"redirects": "count(*)"},
}


def record_digest(record: bytes) -> int:
    """The SHA-256, as a number, of an entity's record (`kg.store.entity_rows.Record`) as MessagePack."""
    return int.from_bytes(hashlib.sha256(record).digest(), "big")


def digest_sum_bytes(digests: int) -> bytes:
    """A sum of digests modulo 2^256, as 32 bytes."""
    return (digests % (1 << 8 * _SIZE)).to_bytes(_SIZE, "big")


def entity_digest_sum(connection: sqlite3.Connection, only_number: int | None = None) -> int:
    """The sum of the digests of all entities in the file, or the digest of the entity `only_number`."""
    return sum(record_digest(_encode(record)) for record in _entity_records(connection, only_number))


def content_hash(connection: sqlite3.Connection, digest: int | None = None) -> str:
    """Hex SHA-256 of the content: the same for the same content under the same schema version.

    `digest`: the sum over the entities where it is known.
    """
    if digest is None:
        digest = entity_digest_sum(connection)
    whole = hashlib.sha256(f"schema {schema.SCHEMA_VERSION}\n".encode())
    whole.update(digest_sum_bytes(digest))
    for table, query in _COUNTED.items():
        whole.update(f"{table}\n".encode())
        rows = connection.execute(query)
        while batch := rows.fetchmany(_ROWS_A_FETCH):
            whole.update(b"".join(map(_encode, batch)))
    return whole.hexdigest()


def _entity_records(connection: sqlite3.Connection, only_number: int | None) -> Iterator[tuple[Any, ...]]:
    where = "" if only_number is None else f" WHERE {{column}} = {only_number:d}"
    terms = RowGroups(
        connection.execute(
            f"SELECT entity, language, kind, ordinal, text FROM term{where.format(column='entity')}"
            " ORDER BY entity, language, kind, ordinal"
        )
    )
    statements = RowGroups(
        connection.execute(
            "SELECT subject, property, ordinal, rank, type, value, qualifiers, id, datatype"
            f" FROM statement{where.format(column='subject')} ORDER BY subject, property, ordinal"
        )
    )
    query = f"SELECT id, sitelinks, datatype FROM entity{where.format(column='id')} ORDER BY id"
    for entity, sitelinks, datatype in connection.execute(query):
        flat = [list(chain.from_iterable(rows.take_rows_of(entity))) for rows in (terms, statements)]
        yield entity, sitelinks, datatype, *flat


# The tables of a snapshot file.


def create_tables(connection: sqlite3.Connection, *, journal: str = "OFF") -> None:
    """Create the tables in an empty file and begin a transaction.

    Without a journal a crash leaves a broken file: such callers write under a temporary name and rename.
    """
    for setting in (f"application_id = {schema.APPLICATION_ID}", f"user_version = {schema.SCHEMA_VERSION}"):
        connection.execute(f"PRAGMA main.{setting}")
    configure_large_writes(connection, journal=journal)
    connection.executescript(schema.TABLES)
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO code VALUES (?, ?, ?)", schema.CODES)


def layout_fingerprint() -> str:
    """A hash of the schema version and the table definitions."""
    text = f"{schema.SCHEMA_VERSION} {schema.TABLES} {schema.INDEX}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def configure_large_writes(connection: sqlite3.Connection, *, journal: str, database: str = "main") -> None:
    """Set SQLite's options for large writes; without a journal it does not wait for the disk either.

    Names and indexes are sorted next to the file, not in /var/tmp, which may be small. (This setting is for the whole
    process; SQLite ignores a folder that no longer exists.)
    """
    for _, name, path in connection.execute("PRAGMA database_list").fetchall():
        if name == database and path:
            folder = str(Path(path).parent).replace("'", "''")
            connection.execute(f"PRAGMA temp_store_directory = '{folder}'")
    if journal == "OFF":
        connection.execute(f"PRAGMA {database}.locking_mode = EXCLUSIVE")
    # Not OFF where databases change together: SQLite then commits one after the other, and a kill comes between.
    synchronous = "OFF" if journal == "OFF" else "NORMAL"
    for setting in (f"journal_mode = {journal}", f"synchronous = {synchronous}", "cache_size = -131072"):
        connection.execute(f"PRAGMA {database}.{setting}")


def write_entities(connection: sqlite3.Connection, entities: Iterable[Entity]) -> int:
    """Write entities and return how many were given; of several with one id the last is kept."""
    count = 0
    source = iter(entities)
    while batch := list(islice(source, _BATCH)):
        count += len(batch)
        last = {required_signed_number(entity.id): entity for entity in batch}
        known = connection.execute(
            "SELECT id FROM entity WHERE id IN (SELECT value FROM json_each(?))", (orjson.dumps(list(last)).decode(),)
        ).fetchall()
        # with all rows: the new entity may lack some terms
        remove_entities(connection, [number for (number,) in known])
        insert_records(connection, [record_of(entity, number) for number, entity in last.items()])
    return count


def insert_records(connection: sqlite3.Connection, records: Sequence[Record]) -> None:
    """Insert entities that the file does not contain, given as records."""
    connection.executemany("INSERT INTO entity VALUES (?, ?, ?)", [record[:3] for record in records])
    insert_flat(connection, "term", "(?, ?, ?, ?, ?)", chain.from_iterable(record[3] for record in records))
    flat = list(chain.from_iterable(record[4] for record in records))
    # The sqlite3 module asks for an adapter of every None and bytes, which takes a third of the time.
    flat[6::9] = [qualifiers or "" for qualifiers in flat[6::9]]
    flat[7::9] = [bytearray(name) if type(name) is bytes else name for name in flat[7::9]]
    insert_flat(connection, "statement", "(?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?)", flat)


def insert_flat(connection: sqlite3.Connection, table: str, row: str, columns: Iterable[Any]) -> None:
    """Insert rows, given as one sequence of columns, several per call (a third faster); `row` is the SQL of one."""
    flat = list(columns)
    width = row.count("?")
    step = _ROWS * width
    whole = len(flat) // step * step
    connection.executemany(
        f"INSERT INTO {table} VALUES {', '.join([row] * _ROWS)}", [flat[at : at + step] for at in range(0, whole, step)]
    )
    connection.executemany(
        f"INSERT INTO {table} VALUES {row}", [flat[at : at + width] for at in range(whole, len(flat), width)]
    )


def remove_entities(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Delete entities; numbers that the file does not contain are ignored."""
    rows = [(number,) for number in numbers]
    for table, column in (("entity", "id"), ("term", "entity"), ("statement", "subject")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", rows)


def record_redirects(connection: sqlite3.Connection, merged: Mapping[str, str]) -> None:
    """Record ids that were merged into others."""
    connection.executemany(
        "INSERT OR REPLACE INTO redirect VALUES (?, ?)",
        ((required_signed_number(source), required_signed_number(target)) for source, target in merged.items()),
    )


def finish_snapshot(
    connection: sqlite3.Connection,
    manifest: Mapping[str, Any],
    other_values: Iterable[tuple[int, int, int]],
    other_properties: Iterable[tuple[int, int]],
    *,
    digest: int | None = None,
) -> dict[str, Any]:
    """Derive names, indexes, counts and the snapshot id, write the manifest and commit.

    `digest`: the sum over the entities where it is known.
    """
    run = connection.execute
    for table in ("name", "value_count", "property_count", "manifest"):  # rows that an earlier `finish_snapshot` wrote
        run(f"DELETE FROM {table}")
    run("DROP INDEX IF EXISTS statement_target")
    # A redirect from an id that is here itself, or to one that is not, would only mislead.
    here = "(SELECT id FROM entity)"
    run(f"DELETE FROM redirect WHERE source IN {here} OR target NOT IN {here}")
    # Names seldom repeat here, so the cache of `normalise` would only take memory.
    connection.create_function("normalise", 1, normalise_uncached, deterministic=True)
    run(
        "INSERT INTO name SELECT normalise(text) AS key, language, kind, entity, ordinal FROM term"
        f" WHERE kind <> {schema.DESCRIPTION} ORDER BY key, language, kind, entity, ordinal"
    )
    run("DELETE FROM name WHERE key = ''")  # names of which `normalise` leaves nothing
    run(
        "INSERT INTO value_count SELECT property, value, count(DISTINCT subject) FROM statement"
        f" WHERE type = {schema.ENTITY} AND rank > 0 AND value IN (SELECT id FROM entity)"
        " GROUP BY property, value"
    )
    connection.executemany(
        "INSERT INTO value_count SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM entity WHERE id = ?2)"
        " ON CONFLICT DO UPDATE SET entities = entities + excluded.entities",
        other_values,
    )
    run(schema.INDEX)  # made after the counts, which would be slower with it: each rank would be looked up in the table
    run(
        "INSERT INTO property_count SELECT property, count(*) FROM"
        f" (SELECT DISTINCT subject, property FROM statement WHERE rank > 0 AND type <> {schema.NOVALUE})"
        " GROUP BY property"
    )
    connection.executemany(
        "INSERT INTO property_count VALUES (?, ?) ON CONFLICT DO UPDATE SET entities = entities + excluded.entities",
        other_properties,
    )
    sealed: dict[str, Any] = {
        **manifest,
        "schema_version": schema.SCHEMA_VERSION,
        "counts": content_counts(connection),
        "snapshot_id": content_hash(connection, digest),
    }
    connection.executemany(
        "INSERT INTO manifest VALUES (?, ?)", ((key, orjson.dumps(value).decode()) for key, value in sealed.items())
    )
    run("COMMIT")
    run("BEGIN")
    return sealed


def read_manifest(connection: sqlite3.Connection) -> dict[str, Any]:
    """The manifest of a finished snapshot."""
    return {key: orjson.loads(value) for key, value in connection.execute("SELECT key, value FROM manifest")}


def content_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Counts of the file's current content: entities, statements by rank, qualifiers, terms, redirects."""
    count_of: dict[str, int] = {}
    for table, columns in _COUNTS.items():
        (row,) = connection.execute(f"SELECT {', '.join(columns.values())} FROM {table}")
        count_of.update(zip(columns, (number or 0 for number in row), strict=True))
    return count_of
