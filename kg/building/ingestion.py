"""The work of a build on disk: what the workers found, kept so that the same command continues a killed build.

A folder next to the output contains the unfinished snapshot and, in a second database, all other state: the
request, the position in the sources, the ids seen, counts and rejects. Both change together, in one
transaction per checkpoint: a process may be killed at any moment. (A machine that loses its power may leave them
broken; then the build begins anew with --restart.)
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec import structs

from kg.base.files import WorkFolder
from kg.base.model import id_of, normalise_uncached
from kg.building.closure import IdSet, numbers_of_valid_ids
from kg.building.extraction import BlockRows, split_property_value_key
from kg.errors import SnapshotError
from kg.reading.entity_json import Reject
from kg.store import filling, schema
from kg.store.filling import digest_sum_bytes, entity_digest_sum, record_digest

EVERY = 30.0  # seconds between checkpoints: the most that a killed build reads again
_SNAPSHOT, _NOTES = "snapshot.sqlite", "notes.sqlite"
_TABLES = (
    "CREATE TABLE notes.state (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE notes.ids (name TEXT, page INTEGER, bits BLOB, PRIMARY KEY (name, page))",
    "CREATE TABLE notes.reject (at INTEGER PRIMARY KEY, reason TEXT, record TEXT)",
    "CREATE TABLE notes.edge (subject INTEGER, property INTEGER, value INTEGER,"
    " PRIMARY KEY (subject, property, value)) WITHOUT ROWID",
)


class BuildFolder(WorkFolder):
    """The folder of one build, locked while it is open. `state` is the state at the last checkpoint, {} at first.

    `request` must equal the request of the build that is continued. Raises SnapshotError where another build is
    running here or left its work, OSError and sqlite3.Error.
    """

    def __init__(self, out: Path, request: Mapping[str, Any], *, restart: bool = False) -> None:
        super().__init__(out, error=SnapshotError)
        self.connection = sqlite3.connect(":memory:")  # until `_continue_or_begin`: `close` has one to close
        try:
            if restart:
                self.clear()
            self.state: dict[str, Any] = {}
            self._continue_or_begin(orjson.loads(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)))
        except BaseException:
            self.close() if self.kept else self.remove()  # work that an earlier run left is kept
            raise
        self._last = time.monotonic()

    @property
    def snapshot_path(self) -> Path:
        """The path of the snapshot that is being built."""
        return self.path / _SNAPSHOT

    def _continue_or_begin(self, request: Any) -> None:
        # an earlier build was killed after the snapshot was moved and before the folder was removed
        if not self.snapshot_path.exists():
            self.clear()
        self._connect_and_read_state()
        if self.state:
            self.check_same_request(self.state["request"], request)
            self.connection.execute("BEGIN")
            return
        # There is no checkpoint yet, or the tables are incomplete.
        self.connection.close()
        self.clear()
        self._connect_and_read_state()
        for table in _TABLES:
            self.connection.execute(table)
        filling.create_tables(self.connection, journal="DELETE")
        self.state = {"request": request}

    def _connect_and_read_state(self) -> None:
        connection = self.connection = sqlite3.connect(self.snapshot_path, isolation_level=None)
        connection.execute("ATTACH ? AS notes", (str(self.path / _NOTES),))
        for database in ("main", "notes"):
            filling.configure_large_writes(connection, journal="DELETE", database=database)
        with contextlib.suppress(sqlite3.OperationalError):  # no such table
            rows = connection.execute("SELECT key, value FROM notes.state").fetchall()
            self.state = {key: orjson.loads(value) for key, value in rows}

    @property
    def can_continue(self) -> bool:
        """Whether a later call can continue from a checkpoint; one that failed on a full disk does not count."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            return self.connection.execute("SELECT 1 FROM notes.state LIMIT 1").fetchone() is not None
        except sqlite3.Error:  # the connection is closed (only the final renaming was left) or the database is unusable
            return len(self.state) > 1

    @property
    def is_checkpoint_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.monotonic() - self._last >= EVERY

    def checkpoint(self, state: Mapping[str, Any], ids: Mapping[str, IdSet]) -> None:
        """Commit all rows written so far, together with the state and the sets of ids."""
        run = self.connection.execute
        self.stage_state(state)
        for name, id_set in ids.items():
            self.connection.executemany(
                "INSERT OR REPLACE INTO notes.ids VALUES (?, ?, ?)",
                ((name, page, bits) for page, bits in id_set.pages()),
            )
        run("COMMIT")
        run("BEGIN")  # a transaction is always open
        self._last = time.monotonic()

    def stage_state(self, state: Mapping[str, Any]) -> None:
        """Update a part of the state; the next commit stores it."""
        self.state = {**self.state, **state}
        self.connection.executemany(
            "INSERT OR REPLACE INTO notes.state VALUES (?, ?)",
            ((key, orjson.dumps(value).decode()) for key, value in self.state.items()),
        )

    def stored_id_set(self, name: str) -> IdSet:
        """A set of ids as stored by the last checkpoint."""
        return IdSet.from_pages(self.connection.execute("SELECT page, bits FROM notes.ids WHERE name = ?", (name,)))

    def close(self) -> None:
        """Close the folder; its content stays as stored by the last checkpoint."""
        self.connection.close()
        super().close()

    def remove(self) -> None:
        """Close, and remove the folder."""
        self.connection.close()
        super().remove()


_SHOWN = 5  # ids in a warning
_HELD = 500_000  # keys in memory, some 70 MB; all of WikiData has hundreds of millions of pairs


class Rejects:
    """Rejects, stored in the work. `source`: the name of the original where the build reads a copy."""

    def __init__(self, connection: sqlite3.Connection, source: str | None = None) -> None:
        self._connection = connection
        self._source = source

    def add(self, source: str, reject: Reject, *, copied: bool = True) -> None:
        """Store one reject; without its line number where the build reads a copy (`copied`)."""
        if copied and self._source is not None:
            source, reject = self._source, structs.replace(reject, line=None)
        text = orjson.dumps({"source": source, **reject.to_json()}).decode()
        self._connection.execute("INSERT INTO notes.reject (reason, record) VALUES (?, ?)", (reject.reason, text))

    def counts_by_reason(self) -> dict[str, int]:
        """The number of rejects by reason, in the order of the reasons."""
        rows = self._connection.execute("SELECT reason, count(*) FROM notes.reject GROUP BY reason ORDER BY reason")
        return dict(rows.fetchall())

    def records(self) -> Iterable[bytes]:
        """Every reject as a JSON line, in the order in which they were added."""
        for (record,) in self._connection.execute("SELECT record FROM notes.reject ORDER BY at"):
            yield record.encode() + b"\n"

    def describe_first(self) -> str:
        """Source, line, reason and detail of the first reject, for a message; there must be one."""
        one = orjson.loads(next(iter(self.records())))
        line = f", line {one['line']}" if "line" in one else ""
        return f"{one['source']}{line}: {one['reason']}: {one['detail']}"


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
        """Add 1 to the count of each key; `keys` contains a key at most once per entity."""
        self._counts.update(keys)
        if len(self._counts) > _HELD:
            self.spill()

    def spill(self) -> None:
        """Move the counts in memory into the table."""
        self._connection.executemany(
            "INSERT INTO notes.tally VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            sorted((*split_property_value_key(key), n) for key, n in self._counts.items()),
        )
        self._counts.clear()

    def entity_counts_by_value(self) -> Iterator[tuple[int, int, int]]:
        """(property, value, entities), ascending."""
        self.spill()
        yield from self._connection.execute(
            "SELECT property, value, n FROM notes.tally WHERE value <> 0 ORDER BY property, value"
        )

    def entity_counts_by_property(self) -> list[tuple[int, int]]:
        """(property, entities), ascending."""
        self.spill()
        rows = self._connection.execute("SELECT property, n FROM notes.tally WHERE value = 0 ORDER BY property")
        return rows.fetchall()


class Ingester:
    """Stores the extracted rows of blocks, in order. An entity that is selected again replaces the earlier one.

    Of one that is not selected, the first occurrence counts; one that has a selected name only when it is repeated
    counts twice.
    """

    def __init__(self, work: BuildFolder, rejects: Rejects) -> None:
        self._work = work
        self._connection = work.connection
        self._encode = msgspec.msgpack.Encoder().encode
        state = work.state.get("collected", {})
        self.seen = work.stored_id_set("seen")
        self.duplicates: int = state.get("duplicates", 0)
        self._digest = int(state.get("digest", "0"), 16)
        self.rejects = rejects
        self.tally = PairCounts(self._connection)

    def warnings_of_missing_ids(self, ids: Iterable[str]) -> list[str]:
        """[a warning] where selected ids are neither among the entities read nor merged into another, else []."""
        merged = {number for (number,) in self._connection.execute("SELECT source FROM redirect")}
        named = numbers_of_valid_ids(ids)
        missing = [id_of(number) for number in sorted(named) if number not in self.seen and number not in merged]
        if not missing:
            return []
        more = f" and {len(missing) - _SHOWN:,} more" if len(missing) > _SHOWN else ""
        shown = f"{', '.join(missing[:_SHOWN])}{more}"
        return [f"{len(missing):,} of the {len(named):,} ids named are not in what was read: {shown}"]

    def checkpoint(self, reading: dict[str, Any]) -> None:
        """Make a checkpoint after the rows added so far."""
        self.tally.spill()
        state = {"duplicates": self.duplicates, "digest": f"{self._digest:x}"}
        self._work.checkpoint({"phase": "reading", "reading": reading, "collected": state}, {"seen": self.seen})

    def add_block(self, source: str, batch: BlockRows) -> None:
        """Add the results of a block."""
        for reject in batch.rejects:
            self.rejects.add(source, reject)
        # Ids that were merged into another.
        self._connection.executemany("INSERT OR REPLACE INTO redirect VALUES (?, ?)", batch.redirects)
        add = self.seen.add
        new = [add(number) for number in batch.numbers]
        if all(new):  # nearly always
            filling.insert_records(self._connection, batch.records)
            self.tally.add(chain.from_iterable(batch.tallies))
            self._digest += int.from_bytes(batch.digest, "big")
        else:
            self._add_with_duplicates(batch, new)

    def _add_with_duplicates(self, batch: BlockRows, new: list[bool]) -> None:
        selected = iter(batch.records)
        others = iter(batch.tallies)
        for number, kept, is_new in zip(batch.numbers, batch.kept, new, strict=True):
            self.duplicates += not is_new  # repeated unselected entities are counted too
            if not kept:
                keys = next(others)
                self.tally.add(keys if is_new else ())
                continue
            record = next(selected)
            if not is_new:
                self.remove_entities([number])
            filling.insert_records(self._connection, [record])
            self._digest += record_digest(self._encode(record))

    def remove_entities(self, numbers: Iterable[int]) -> None:
        """Remove entities from the snapshot and from the digest."""
        for number in numbers:
            self._digest -= entity_digest_sum(self._connection, number)  # the digest is a sum
            filling.remove_entities(self._connection, [number])

    def drop_unused_properties(self, selected: IdSet, names: Iterable[str]) -> None:
        """Remove properties that are neither selected by id or name nor used by a statement or qualifier elsewhere."""
        run = self._connection.execute
        wanted = [number for number in selected if number < 0]  # properties have negative numbers
        if listed := sorted(names):
            self._connection.create_function("normalise", 1, normalise_uncached, deterministic=True)
            named = run(
                f"SELECT entity FROM term WHERE entity < 0 AND kind <> {schema.DESCRIPTION}"
                " AND normalise(text) IN (SELECT value FROM json_each(?))",
                (orjson.dumps(listed).decode(),),
            )
            wanted += [number for (number,) in named]
        counted = "(subject > 0 OR subject IN (SELECT value FROM json_each(?1)))"
        unused = run(
            "SELECT id FROM entity WHERE id < 0 AND id NOT IN (SELECT value FROM json_each(?1))"
            f" AND -id NOT IN (SELECT property FROM statement WHERE {counted})"
            " AND -id NOT IN (SELECT json_extract(one.value, '$[0]') FROM statement, json_each(qualifiers) AS one"
            f" WHERE qualifiers IS NOT NULL AND {counted})",
            (orjson.dumps(wanted).decode(),),
        ).fetchall()
        self._count_values_as_of_unselected([number for (number,) in unused])
        self.remove_entities(number for (number,) in unused)

    def _count_values_as_of_unselected(self, numbers: Sequence[int]) -> None:
        """Count the properties and values of these entities, still in the snapshot, as those of unselected entities."""
        self.tally.spill()
        for value, where in (("value", f"type = {schema.ENTITY}"), ("0", f"type <> {schema.NOVALUE}")):
            self._connection.execute(
                f"INSERT INTO notes.tally SELECT property, {value} AS target, count(DISTINCT subject)"
                f" FROM statement WHERE subject IN (SELECT value FROM json_each(?)) AND rank > 0 AND {where}"
                " GROUP BY property, target ON CONFLICT DO UPDATE SET n = n + excluded.n",
                (orjson.dumps(numbers).decode(),),
            )

    def most_frequent_values(self, prop: str, most: int) -> tuple[str, ...]:
        """The ids of the `most` most frequent values of a property among all entities read, selected or not."""
        number = int(prop[1:])
        self.tally.spill()
        rows = self._connection.execute(
            "SELECT value, sum(n) AS n FROM ("
            " SELECT value, n FROM notes.tally WHERE property = ?1 AND value <> 0 UNION ALL"
            " SELECT value, count(DISTINCT subject) FROM statement"
            f" WHERE property = ?1 AND type = {schema.ENTITY} AND rank > 0 GROUP BY value"
            ") GROUP BY value ORDER BY n DESC, value LIMIT ?2",
            (number, most),
        )
        return tuple(id_of(value) for value, _ in rows)

    @property
    def digest(self) -> int:
        """The sum of the digests of the entities in the snapshot."""
        return int.from_bytes(digest_sum_bytes(self._digest), "big")
