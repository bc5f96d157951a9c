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
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from kg.errors import MirrorError
from kg.store import neo4j_rows
from kg.store.file_header import read_only
from kg.store.neo4j import MODEL, read_marker
from kg.store.neo4j_client import Address, Neo4jClient
from kg.store.neo4j_rows import RowPiece, batches
from kg.store.sqlite import SQLiteStore

BATCH = 10_000  # nodes or relationships per statement
BATCH_SIZE = 8_000_000  # characters per statement
WRITE_SECONDS = 600.0  # time limit of one statement
PATIENCE_SECONDS = 60.0  # time that an unreachable server is waited for
_CLEAR = 20_000  # nodes or relationships deleted per transaction

LABELS = ("Entity", "Name", "Redirect", "ValueList", "PropertyCount")  # the last is of model 1
SCHEMA = (
    "CREATE CONSTRAINT snapshot_slot IF NOT EXISTS FOR (n:Snapshot) REQUIRE n.slot IS UNIQUE",
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT name_key IF NOT EXISTS FOR (n:Name) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT redirect_id IF NOT EXISTS FOR (n:Redirect) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX entity_number IF NOT EXISTS FOR (n:Entity) ON (n.number)",
    "CREATE INDEX value_list IF NOT EXISTS FOR (n:ValueList) ON (n.property)",
)
SCHEMA_NAMES = tuple(statement.split()[2] for statement in SCHEMA)

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
class _Phase:
    name: str
    rows: Callable[[sqlite3.Connection, Any], Iterator[RowPiece]]
    write: str
    count: str  # how many there should be, from the snapshot file
    held: str  # how many there are, from the server


_PHASES = (
    _Phase(
        name="entities",
        rows=neo4j_rows.entities,
        write="CREATE (n:Entity) SET n = row",
        count="SELECT count(*) FROM entity",
        held="RETURN COUNT { (n:Entity) } - COUNT { (n:Missing) }",
    ),
    _Phase(
        name="missing",
        rows=neo4j_rows.missing_entities,
        write="CREATE (:Entity:Missing {id: row[0], number: row[1]})",
        count="SELECT count(DISTINCT value) FROM statement WHERE type = 2 AND value NOT IN (SELECT id FROM entity)",
        held="MATCH (n:Missing) RETURN count(n)",
    ),
    _Phase(
        name="names",
        rows=neo4j_rows.names,
        write="CREATE (:Name {key: row[0], carriers: row[1]})",
        count="SELECT count(DISTINCT key) FROM name",
        held="MATCH (n:Name) RETURN count(n)",
    ),
    _Phase(
        name="redirects",
        rows=neo4j_rows.redirects,
        write="CREATE (:Redirect {id: row[0], target: row[1]})",
        count="SELECT count(*) FROM redirect",
        held="MATCH (n:Redirect) RETURN count(n)",
    ),
    _Phase(
        name="value lists",
        rows=neo4j_rows.value_lists,
        write="CREATE (:ValueList {property: row[0], block: row[1], targets: row[2], entities: row[3]})",
        count=(
            f"SELECT coalesce(sum((n + {neo4j_rows.VALUES_A_BLOCK - 1}) / {neo4j_rows.VALUES_A_BLOCK}), 0)"
            " FROM (SELECT count(*) AS n FROM value_count GROUP BY property)"
        ),
        held="MATCH (n:ValueList) RETURN count(n)",
    ),
    _Phase(
        name="relationships",
        rows=neo4j_rows.relationships,
        write=_RELATIONSHIP,
        count="SELECT count(*) FROM statement WHERE type = 2",
        held="MATCH (:Entity)-[r]->() RETURN count(r)",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PushProgress:
    """How far a push is: things of this phase written by this push, and how many the phase has in all."""

    phase: str
    done: int
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushed:
    """The result of a push: objects written by phase, none where all were present, and whether it continued an earlier
    push.
    """

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
    progress: Callable[[PushProgress], None] | None = None,
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
    with closing(client), closing(read_only(snapshot, shared=True)) as connection:  # totals here, rows by `_ahead`
        client.check()
        return _Push(client, connection, manifest, batch, progress).run(replace=replace)


class _Push:
    def __init__(
        self,
        client: Neo4jClient,
        connection: sqlite3.Connection,
        manifest: dict[str, Any],
        batch: int,
        progress: Callable[[PushProgress], None] | None,
    ) -> None:
        self._client = client
        self._connection = connection
        self._manifest = manifest
        self._batch = batch
        self._progress = progress
        self._snapshot_id: str = manifest["snapshot_id"]

    def run(self, *, replace: bool) -> Pushed:
        marker = None if replace else self._read_own_marker()
        resumed = marker is not None and not marker["complete"]
        marker = marker or self._begin()
        if not marker["complete"]:
            self._empty(marker["load"])
        for statement in SCHEMA:
            self._client.run(statement)
        self._client.run("CALL db.awaitIndexes(3600)", seconds=3700)
        written = {} if marker["complete"] else self._write_phases(marker)
        if wrong := wrong_counts(self._client, self._connection):
            raise MirrorError(
                f"{self._client.address} was changed since the snapshot was put there: {', '.join(wrong)};"
                " give --replace to put it there anew"
            )
        finish = "MATCH (m:Snapshot {slot: 1, load: $load}) SET m.complete = true REMOVE m.lock"
        self._client.run(finish, {"load": marker["load"]})
        address = str(self._client.address)
        return Pushed(address=address, snapshot_id=self._snapshot_id, written=written, resumed=resumed)

    def _read_own_marker(self) -> dict[str, Any] | None:
        """The marker of this very snapshot, None for a database to begin with."""
        where, marker = self._client.address, read_marker(self._client)
        if marker is not None and marker["snapshot_id"] != self._snapshot_id:
            raise MirrorError(
                f"{where} holds snapshot {marker['snapshot_id']}, not {self._snapshot_id}; give --replace to replace it"
            )
        for label in LABELS if marker is None else ():
            if self._client.run(f"MATCH (n:{label}) RETURN 1 LIMIT 1"):
                raise MirrorError(
                    f"{where} holds nodes :{label} that no snapshot accounts for; give --replace to delete them,"
                    " or another database"
                )
        return marker

    def _begin(self) -> dict[str, Any]:
        """Put the marker of this snapshot in the place of any other: from here on it is this one that is pushed."""
        counts = self._connection.execute("SELECT property, entities FROM property_count ORDER BY property")
        marker = {
            "slot": 1,
            "model": MODEL,
            "snapshot_id": self._snapshot_id,
            "manifest": orjson.dumps(self._manifest).decode(),
            "property_counts": orjson.dumps({f"P{prop}": entities for prop, entities in counts}).decode(),
            "load": str(uuid.uuid4()),
            "phase": -1,
            "complete": False,
        }
        self._client.run("MATCH (m:Snapshot) DETACH DELETE m")
        self._client.run(SCHEMA[0])
        self._client.run("MERGE (m:Snapshot {slot: 1}) SET m = $marker", {"marker": marker})
        return marker

    def _empty(self, load: str) -> None:
        """Delete earlier content, as long as the marker shows that nothing new was written."""
        relationships = "MATCH (:Entity)-[r]->() WITH r LIMIT $n DELETE r"
        nodes = [f"MATCH (n:{label}) WITH n LIMIT $n DETACH DELETE n" for label in LABELS]
        deleted = 0
        for delete in (relationships, *nodes):
            query = f"MATCH (:Snapshot {{slot: 1, load: $load, phase: -1}}) WITH 1 AS mine {delete} RETURN count(*)"
            while gone := self._client.run(query, {"n": _CLEAR, "load": load})[0][0]:
                deleted += gone
                self._tell("deleting what was there", deleted, deleted)

    def _write_phases(self, marker: dict[str, Any]) -> dict[str, int]:
        load, stands = marker["load"], (marker["phase"], marker.get("after"))
        written: dict[str, int] = {}
        for number, phase in enumerate(_PHASES):
            if number < stands[0]:
                continue
            (total,) = self._connection.execute(phase.count).fetchone()
            written_rows = 0
            after = stands[1] if number == stands[0] else None
            rows = batches(phase.rows(self._connection, after), rows=self._batch, size=BATCH_SIZE)
            with closing(_ahead(rows)) as pieces:
                for piece in pieces:
                    self._tell(phase.name, written_rows, total)
                    self._write(load, stands, (number, piece.key), phase.write, piece.rows)
                    stands = (number, piece.key)
                    written_rows += piece.count
            self._tell(phase.name, written_rows, total)
            if written_rows:
                written[phase.name] = written_rows
        return written

    def _write(
        self, load: str, old: tuple[int, int | str | None], new: tuple[int, int | str], write: str, rows: list[Any]
    ) -> None:
        """Write rows and advance the marker in one transaction; only if the marker has its expected value."""
        parameters = {"load": load, "old_phase": old[0], "old": old[1], "phase": new[0], "after": new[1], "rows": rows}
        if not self._client.run(f"{_MOVE} WITH m UNWIND $rows AS row {write} RETURN count(*)", parameters)[0][0]:
            # Sent twice, because the connection was lost after the server had done it; or not ours any more.
            marker = read_marker(self._client)
            if marker is None or (marker.get("load"), marker["phase"], marker.get("after")) != (load, *new):
                raise MirrorError(f"{self._client.address}: another push writes to it; let one of them finish")

    def _tell(self, phase: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(PushProgress(phase=phase, done=done, total=total))


def _ahead(pieces: Iterator[RowPiece]) -> Generator[RowPiece]:
    """The same, each made in a thread while the server still writes the one before."""
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, pieces, None)
        while (piece := coming.result()) is not None:
            coming = worker.submit(next, pieces, None)
            yield piece


def wrong_counts(client: Neo4jClient, connection: sqlite3.Connection) -> list[str]:
    """The counts in which a database differs from the snapshot file, in words; empty where all agree."""
    wrong = []
    for phase in _PHASES:
        (expected,) = connection.execute(phase.count).fetchone()
        found = client.run(phase.held)[0][0]
        if found != expected:
            wrong.append(f"{found:,} {phase.name} instead of {expected:,}")
    return wrong
