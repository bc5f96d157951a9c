"""Putting a snapshot file into a Neo4j database, in the model described in `kg.store.neo4j`.

Each batch is one statement that also moves the progress marker in the node `:Snapshot`, and only if the marker has its
expected value. So each batch is applied exactly once however often it is sent, and a killed push continues from the
server's marker. One writer: concurrent writers of relationships would wait for each other at hubs. Batches of
relationships go by subject, and the type is a parameter (`$(row[1])`, Neo4j 5.26): one plan for all, no sorting of the
statements, each subject looked up once. Batches by property need a plan each, and most are tiny.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from kg.base.model import id_of
from kg.errors import MirrorError
from kg.store import schema
from kg.store.entity_rows import RowGroups, full_statement_id, json_text
from kg.store.neo4j import (
    MODEL,
    VALUES_A_BLOCK,
    Address,
    Neo4jClient,
    datatype_implied_by_target,
    name_index_key,
    read_marker,
)
from kg.store.sqlite import SQLiteStore, read_only_connection

_BEGIN = -(1 << 62)  # below all entity numbers; those of properties are negative
_START, _END = 580, 582  # P580 start time, P582 end time
_FARTHEST_YEAR = 10**14  # whose days are integers of 64 bits
BATCH = 10_000  # nodes or relationships per statement
BATCH_SIZE = 8_000_000  # bytes per statement, as JSON: the server has a transaction in its memory
WRITE_SECONDS = 600.0  # time limit of one statement
PATIENCE_SECONDS = 60.0  # time that an unreachable server is waited for: a push takes long, and goes on by itself
_CLEAR = 20_000  # nodes or relationships deleted per transaction, for the same reason
LABELS = ("Entity", "Name", "Redirect", "ValueList")  # with :Snapshot all that is ours in a shared database
SCHEMA = (
    "CREATE CONSTRAINT snapshot_slot IF NOT EXISTS FOR (n:Snapshot) REQUIRE n.slot IS UNIQUE",
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT name_key IF NOT EXISTS FOR (n:Name) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT redirect_id IF NOT EXISTS FOR (n:Redirect) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX number_within_kind IF NOT EXISTS FOR (n:Entity) ON (n.number)",
    "CREATE INDEX value_list IF NOT EXISTS FOR (n:ValueList) ON (n.property)",
)
_MOVE = (
    # The lock is taken before the marker is looked at, so of two pushes one finds that it has moved.
    "MATCH (m:Snapshot {slot: 1}) SET m.lock = true WITH m WHERE m.load = $load AND m.phase = $old_phase"
    " AND coalesce(m.after = $old, $old IS NULL AND m.after IS NULL) SET m.phase = $phase, m.after = $after"
)
_RELATIONSHIP = (
    "MATCH (s:Entity {id: row[0]}) UNWIND row[1] AS stated MATCH (t:Entity {id: stated[0]})"
    " CREATE (s)-[r:$(stated[1])]->(t) SET r = stated[2]"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RowPiece:
    """Rows that are written together or not at all: `key` is the position to continue after."""

    key: int | str
    rows: list[Any]
    count: int = 1  # nodes, or relationships


def entity_pieces(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """Entity nodes as property maps, by number, properties first."""
    begin = (_BEGIN if after is None else after,)
    terms = RowGroups(
        connection.execute(
            "SELECT entity, language, kind, text FROM term WHERE entity > ? ORDER BY entity, language, kind, ordinal",
            begin,
        )
    )
    literals = RowGroups(
        connection.execute(
            "SELECT subject, property, ordinal, rank, type, value, qualifiers, id, datatype FROM statement"
            f" WHERE subject > ? AND type <> {schema.ENTITY} ORDER BY subject, property, ordinal",
            begin,
        )
    )
    counts = RowGroups(
        connection.execute(
            "SELECT target, property, entities FROM value_count WHERE target > ? ORDER BY target, property", begin
        )
    )
    for number, sitelinks, datatype in connection.execute(
        "SELECT id, sitelinks, datatype FROM entity WHERE id > ? ORDER BY id", begin
    ):
        node: dict[str, Any] = {"id": id_of(number), "number": number, "sitelinks": sitelinks}
        if datatype is not None:
            node["datatype"] = datatype
        node |= _term_properties(terms.take_rows_of(number))
        stated: dict[str, list[Any]] = {}
        for _, prop, ordinal, rank, kind, value, qualifiers, name, about in literals.take_rows_of(number):
            text = full_statement_id("", name) if isinstance(name, bytes) else name
            stated.setdefault(f"P{prop}", []).append([ordinal, rank, kind, value, qualifiers, text, about])
        if stated:
            node["statements"] = json_text(stated)
        if rows := counts.take_rows_of(number):
            node["value_counts"] = json_text({f"P{prop}": count for _, prop, count in rows})
        yield RowPiece(key=number, rows=[node])


def id_pieces(query: str, connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """Rows [number, id, further ids], by number; the query selects the numbers greater than its parameter."""
    for row in connection.execute(query, (_BEGIN if after is None else after,)):
        yield RowPiece(key=row[0], rows=[[row[0], *map(id_of, row)]])


def name_pieces(connection: sqlite3.Connection, after: str | None = None) -> Iterator[RowPiece]:
    """Name nodes: [key, carriers], in binary order of the keys."""
    rows = connection.execute(
        f"SELECT name.key, name.entity, name.kind, name.language, term.text FROM name {schema.WITH_TERM}"
        " WHERE name.key > ? ORDER BY name.key",
        (after or "",),
    )
    for key, group in groupby(rows, key=itemgetter(0)):
        yield RowPiece(key=key, rows=[[name_index_key(key), json_text([list(row[1:]) for row in group])]])


def value_list_pieces(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """ValueList nodes: [property, block, targets, entities], in that order; the key is how many there are."""
    rows = connection.execute(
        "SELECT property, target, entities FROM value_count ORDER BY property, entities DESC, target < 0, abs(target)"
    )
    place = 0
    for prop, group in groupby(rows, key=itemgetter(0)):
        block = 0
        while listed := list(islice(group, VALUES_A_BLOCK)):
            place += 1
            if after is None or place > after:  # the list is made again: its order needs all
                columns = [[row[1] for row in listed], [row[2] for row in listed]]
                yield RowPiece(key=place, rows=[[f"P{prop}", block, *columns]])
            block += 1


def relationship_pieces(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """Statements whose value is an item or a property: [subject, [[target, type, properties], ...]] a subject."""
    rows = connection.execute(
        "SELECT subject, property, ordinal, rank, value, qualifiers, id, datatype FROM statement"
        f" WHERE subject > ? AND type = {schema.ENTITY} ORDER BY subject, property, ordinal",
        (_BEGIN if after is None else after,),
    )
    for subject, group in groupby(rows, key=itemgetter(0)):
        name = id_of(subject)
        stated: list[list[Any]] = []
        for _, prop, ordinal, rank, value, qualifiers, statement_id, datatype in group:
            properties = {"id": full_statement_id(name, statement_id), "rank": schema.RANKS[rank], "ordinal": ordinal}
            if qualifiers is not None:
                properties["qualifiers"] = qualifiers
                properties |= _start_and_end_dates(qualifiers)
            kind = schema.DATATYPES[datatype] if isinstance(datatype, int) else datatype
            if kind != datatype_implied_by_target(value):  # which nearly all have: a property less on each of millions
                properties["datatype"] = kind or ""
            stated.append([id_of(value), f"P{prop}", properties])
        yield RowPiece(key=subject, rows=[[name, stated]], count=len(stated))


def combine_into_batches(pieces: Iterable[RowPiece], *, rows: int) -> Iterator[RowPiece]:
    """Pieces put together until `rows` things or BATCH_SIZE bytes are reached, in order, never split."""
    held: list[Any] = []
    weight = count = 0
    key: int | str = 0
    for piece in pieces:
        held += piece.rows
        key = piece.key
        weight += len(orjson.dumps(piece.rows))
        count += piece.count
        if count >= rows or weight >= BATCH_SIZE:
            yield RowPiece(key=key, rows=held, count=count)
            held, weight, count = [], 0, 0
    if held:
        yield RowPiece(key=key, rows=held, count=count)


def _term_properties(rows: list[Any]) -> dict[str, str]:
    node: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    for _, language, kind, text in rows:
        if kind == schema.LABEL:
            node[f"label_{language}"] = text
        elif kind == schema.DESCRIPTION:
            node[f"description_{language}"] = text
        else:
            aliases.setdefault(f"aliases_{language}", []).append(text)
    return node | {key: json_text(texts) for key, texts in aliases.items()}


def _start_and_end_dates(qualifiers: str) -> dict[str, int]:
    """`start` and `end` of a statement as numbers YYYYMMDD, each only where it is known."""
    span: dict[str, int] = {}
    for prop, kind, value in orjson.loads(qualifiers):
        if kind == schema.TIME and prop in (_START, _END) and abs(value[0]) <= _FARTHEST_YEAR:
            year, month, day = value[:3]
            span.setdefault("start" if prop == _START else "end", year * 10_000 + month * 100 + day)
    return span


@dataclass(frozen=True, kw_only=True, slots=True)
class _Phase:
    name: str
    rows: Callable[[sqlite3.Connection, Any], Iterator[RowPiece]]
    write: str
    count: str  # query of the snapshot file: how many there should be
    server_count: str  # query of the server: how many there are


_PHASES = (
    _Phase(
        name="entities",
        rows=entity_pieces,
        write="CREATE (n:Entity) SET n = row",
        count="SELECT count(*) FROM entity",
        server_count="RETURN COUNT { (n:Entity) } - COUNT { (n:Missing) }",
    ),
    _Phase(
        name="missing",
        rows=partial(
            id_pieces,
            f"SELECT DISTINCT value FROM statement WHERE type = {schema.ENTITY} AND value > ?"
            " AND value NOT IN (SELECT id FROM entity) ORDER BY value",
        ),
        write="CREATE (:Entity:Missing {id: row[1], number: row[0]})",
        count="SELECT count(DISTINCT value) FROM statement WHERE type = 2 AND value NOT IN (SELECT id FROM entity)",
        server_count="MATCH (n:Missing) RETURN count(n)",
    ),
    _Phase(
        name="names",
        rows=name_pieces,
        write="CREATE (:Name {key: row[0], carriers: row[1]})",
        count="SELECT count(DISTINCT key) FROM name",
        server_count="MATCH (n:Name) RETURN count(n)",
    ),
    _Phase(
        name="redirects",
        rows=partial(id_pieces, "SELECT source, target FROM redirect WHERE source > ? ORDER BY source"),
        write="CREATE (:Redirect {id: row[1], target: row[2]})",
        count="SELECT count(*) FROM redirect",
        server_count="MATCH (n:Redirect) RETURN count(n)",
    ),
    _Phase(
        name="value lists",
        rows=value_list_pieces,
        write="CREATE (:ValueList {property: row[0], block: row[1], targets: row[2], entities: row[3]})",
        count=(
            f"SELECT coalesce(sum((n + {VALUES_A_BLOCK - 1}) / {VALUES_A_BLOCK}), 0)"
            " FROM (SELECT count(*) AS n FROM value_count GROUP BY property)"
        ),
        server_count="MATCH (n:ValueList) RETURN count(n)",
    ),
    _Phase(
        name="relationships",
        rows=relationship_pieces,
        write=_RELATIONSHIP,
        count="SELECT count(*) FROM statement WHERE type = 2",
        server_count="MATCH (:Entity)-[r]->() RETURN count(r)",
    ),
)


PushProgress = Callable[[str, int, int], None]  # phase, things of it written by this push, and how many it has in all


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushed:
    """What a push wrote, by phase (nothing where all was there), and whether it continued an earlier one."""

    address: str
    snapshot_id: str
    written: dict[str, int]
    resumed: bool


def push(
    snapshot: Path | str,
    address: str,
    *,
    batch: int = BATCH,
    replace: bool = False,
    patience: float = PATIENCE_SECONDS,
    progress: PushProgress | None = None,
) -> Pushed:
    """Put a snapshot file into the database at `bolt://HOST:PORT[/DATABASE]`, or continue an earlier push.

    Where the database contains it already, only missing constraints and indexes are made. `replace` first deletes all
    nodes with the mirror's labels; nodes of other labels are never touched. `batch` is the number of nodes or
    relationships per statement. Raises MirrorError where the database has other content, was changed by others since,
    or another push writes to it; MirrorUnreachableError where the server is unreachable for `patience` seconds; the
    errors of `SQLiteStore.open`.
    """
    with SQLiteStore.open(snapshot) as store:
        manifest = dict(store.manifest())
    client = Neo4jClient(Address.parse(address), query_seconds=WRITE_SECONDS, patience=patience)
    # Two threads read it: totals are read here, rows by `_prefetching`.
    with closing(client), closing(read_only_connection(snapshot, shared=True)) as connection:
        client.check_server_version()
        return _Push(client, connection, manifest, batch, progress).run(replace=replace)


@dataclass
class _Push:
    client: Neo4jClient
    connection: sqlite3.Connection
    manifest: dict[str, Any]
    batch: int
    progress: PushProgress | None

    def run(self, *, replace: bool) -> Pushed:
        marker = None if replace else self._read_own_marker()
        resumed = marker is not None and not marker["complete"]
        marker = marker or self._write_marker()
        if not marker["complete"]:
            self._delete_earlier_content(marker["load"])
        for statement in SCHEMA:
            self.client.run(statement)
        self.client.run("CALL db.awaitIndexes(3600)", seconds=3700)  # longer: the server is to give its own reason
        written = {} if marker["complete"] else self._write_phases(marker)
        if wrong := count_difference_lines(self.client, self.connection):
            raise MirrorError(
                f"{self.client.address} was changed since the snapshot was put there: {', '.join(wrong)};"
                " give --replace to put it there anew"
            )
        finish = "MATCH (m:Snapshot {slot: 1, load: $load}) SET m.complete = true REMOVE m.lock"
        self.client.run(finish, {"load": marker["load"]})
        address = str(self.client.address)
        return Pushed(address=address, snapshot_id=self.manifest["snapshot_id"], written=written, resumed=resumed)

    def _read_own_marker(self) -> dict[str, Any] | None:
        """The marker of this snapshot, None for an empty database. Raises MirrorError for other content."""
        where, marker = self.client.address, read_marker(self.client)
        wanted = self.manifest["snapshot_id"]
        if marker is not None and marker["snapshot_id"] != wanted:
            raise MirrorError(
                f"{where} holds snapshot {marker['snapshot_id']}, not {wanted}; give --replace to replace it"
            )
        for label in LABELS if marker is None else ():
            if self.client.run(f"MATCH (n:{label}) RETURN 1 LIMIT 1"):
                raise MirrorError(
                    f"{where} holds nodes :{label} that no snapshot accounts for; give --replace to delete them,"
                    " or another database"
                )
        return marker

    def _write_marker(self) -> dict[str, Any]:
        """Replace any marker by a new one for this snapshot, and return it."""
        counts = self.connection.execute("SELECT property, entities FROM property_count ORDER BY property")
        marker = {
            "slot": 1,
            "model": MODEL,
            "snapshot_id": self.manifest["snapshot_id"],
            "manifest": orjson.dumps(self.manifest).decode(),
            "property_counts": orjson.dumps({f"P{prop}": entities for prop, entities in counts}).decode(),
            "load": str(uuid.uuid4()),  # new each time: readers notice that what they opened was replaced
            "phase": -1,
            "complete": False,
        }
        self.client.run("MATCH (m:Snapshot) DETACH DELETE m")
        self.client.run(SCHEMA[0])  # without the constraint two pushes at once would make a marker each
        self.client.run("MERGE (m:Snapshot {slot: 1}) SET m = $marker", {"marker": marker})
        return marker

    def _delete_earlier_content(self, load: str) -> None:
        """Delete earlier content, as long as the marker shows that nothing new was written."""
        # Relationships first: DETACH DELETE of a hub takes all of its own in one transaction.
        relationships = "MATCH (:Entity)-[r]->() WITH r LIMIT $n DELETE r"
        nodes = [f"MATCH (n:{label}) WITH n LIMIT $n DETACH DELETE n" for label in LABELS]
        deleted = 0
        for delete in (relationships, *nodes):
            query = f"MATCH (:Snapshot {{slot: 1, load: $load, phase: -1}}) WITH 1 AS mine {delete} RETURN count(*)"
            while gone := self.client.run(query, {"n": _CLEAR, "load": load})[0][0]:
                deleted += gone
                self._report_progress("deleting what was there", deleted, deleted)

    def _write_phases(self, marker: dict[str, Any]) -> dict[str, int]:
        load, stands = marker["load"], (marker["phase"], marker.get("after"))
        written: dict[str, int] = {}
        for number, phase in enumerate(_PHASES):
            if number < stands[0]:
                continue
            (total,) = self.connection.execute(phase.count).fetchone()
            written_rows = 0
            after = stands[1] if number == stands[0] else None
            rows = combine_into_batches(phase.rows(self.connection, after), rows=self.batch)
            with closing(_prefetching(rows)) as pieces:  # the thread ends before the connection
                for piece in pieces:
                    self._report_progress(phase.name, written_rows, total)
                    self._write_and_advance(load, stands, (number, piece.key), phase.write, piece.rows)
                    stands = (number, piece.key)
                    written_rows += piece.count
            self._report_progress(phase.name, written_rows, total)
            if written_rows:
                written[phase.name] = written_rows
        return written

    def _write_and_advance(
        self, load: str, old: tuple[int, int | str | None], new: tuple[int, int | str], write: str, rows: list[Any]
    ) -> None:
        """Write rows and advance the marker in one transaction; only if the marker has its expected value."""
        parameters = {"load": load, "old_phase": old[0], "old": old[1], "phase": new[0], "after": new[1], "rows": rows}
        if not self.client.run(f"{_MOVE} WITH m UNWIND $rows AS row {write} RETURN count(*)", parameters)[0][0]:
            # Sent twice, because the connection was lost after the server had done it; or not ours any more.
            marker = read_marker(self.client)
            if marker is None or (marker.get("load"), marker["phase"], marker.get("after")) != (load, *new):
                raise MirrorError(f"{self.client.address}: another push writes to it; let one of them finish")

    def _report_progress(self, phase: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(phase, done, total)


def _prefetching(pieces: Iterator[RowPiece]) -> Generator[RowPiece]:
    """The same pieces, each read in a thread while the server writes the one before."""
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, pieces, None)
        while (piece := coming.result()) is not None:
            coming = worker.submit(next, pieces, None)
            yield piece


def count_difference_lines(client: Neo4jClient, connection: sqlite3.Connection) -> list[str]:
    """The counts in which a database differs from the snapshot file, in words; empty where all agree."""
    wrong = []
    for phase in _PHASES:
        (expected,) = connection.execute(phase.count).fetchone()
        found = client.run(phase.server_count)[0][0]
        if found != expected:
            wrong.append(f"{found:,} {phase.name} instead of {expected:,}")
    return wrong
