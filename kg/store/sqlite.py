"""The embedded store: a snapshot in one SQLite file. Its layout is described in `kg.store.schema`."""

from __future__ import annotations

import re
import sqlite3
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from kg.base.model import Entity, Statement, id_of, normalise, signed_number
from kg.errors import DamagedSnapshotError, SnapshotError
from kg.store import filling, schema
from kg.store.entity_rows import decode_statement, entity_from_parts, json_text, matches_in_order, name_match
from kg.store.protocol import NameMatch

MEMORY = ":memory:"
_CHUNK = 20_000  # ids, names or pairs asked at a time, as one JSON text: SQLite before 3.32 takes 999 parameters
_BATCH = 1000  # entities at a time where all are read
_SEEK = 8  # up to this many properties are looked up one by one, more are filtered while scanning
MOST_BEGINNING = 2_000  # names read at most, which takes a hundredth of a second
_HEADER = 100  # sqlite.org/fileformat2.html, section 1.3
_ADDRESS = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?:/")  # with one slash, which remains when `Path` has read an address


def read_only_connection(path: Path | str, *, shared: bool = False) -> sqlite3.Connection:
    """A connection to a finished snapshot, which nobody writes to any more; `shared`: by several threads in turn."""
    address = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
    # Immutable: without locks and looks for a journal, so also on a file system that cannot be written.
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=not shared)


def _check_header(path: Path) -> None:
    """Check the header of a file before SQLite opens it.

    Raises SnapshotError unless it is a snapshot of the schema version that this program reads, DamagedSnapshotError
    where the file is shorter than the size in its header.
    """
    if _ADDRESS.match(str(path)):
        address = str(path).replace(":/", "://", 1)
        raise SnapshotError(f"{address} is the address of a mirror; give the snapshot file that it was made from")
    if path.is_dir():
        raise SnapshotError(f"{path} is a folder; give a snapshot file")
    with path.open("rb") as stream:
        header = stream.read(_HEADER)
    build = "make one with 'granola snapshot build'"
    if len(header) < _HEADER or not header.startswith(b"SQLite format 3\0"):
        raise SnapshotError(f"{path} is no snapshot: it is {'no SQLite file' if header else 'empty'}; {build}")
    # 16: page size; 28: size in pages; 60: user_version; 68: application_id.
    page_size, pages, version, application = struct.unpack(">16xH10xI28xI4xI28x", header)
    if application != schema.APPLICATION_ID:
        raise SnapshotError(f"{path} is no snapshot: it is an SQLite file of another program; {build}")
    if version != schema.SCHEMA_VERSION:
        raise SnapshotError(
            f"{path} has schema version {version}; this version of the program reads {schema.SCHEMA_VERSION}:"
            " build the snapshot again"
        )
    expected = pages * (65536 if page_size == 1 else page_size)  # 65536 is more than two bytes hold
    size = path.stat().st_size
    if size < expected:
        raise DamagedSnapshotError(f"{path} is truncated: {size} of {expected} bytes; copy or build it again")


class SQLiteStore:
    """A snapshot file, opened with `open` or made with `create`, and read.

    Implements `kg.store.protocol.Store`. A file opened for reading is taken as immutable and mapped into
    memory, so several processes share its pages.
    """

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.path = path
        self._connection = connection
        self._redirected = False
        self._manifest: dict[str, Any] | None = None

    @classmethod
    def open(cls, path: Path | str) -> SQLiteStore:
        """Open a finished snapshot for reading.

        Raises FileNotFoundError, `SnapshotError` where the file is no snapshot or of another schema version
        than this program reads, and `DamagedSnapshotError` where it is truncated or unfinished.
        """
        path = Path(path)
        _check_header(path)
        store = cls(read_only_connection(path), str(path))
        try:
            store._fetch_rows("PRAGMA mmap_size = 2147418112")  # SQLite's own limit, 0x7fff0000
            store._fetch_rows("PRAGMA cache_size = -65536")  # KiB
            if missing := {"snapshot_id", "counts"} - store.manifest().keys():
                raise DamagedSnapshotError(
                    f"{path} is unfinished: its manifest lacks {' and '.join(sorted(missing))}; build it again"
                )
            # without redirects no lookup is needed
            store._redirected = bool(store._fetch_rows("SELECT 1 FROM redirect LIMIT 1"))
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def create(
        cls,
        path: Path | str,
        entities: Iterable[Entity],
        *,
        redirects: Mapping[str, str] | None = None,
        manifest: Mapping[str, Any] | None = None,
        other_values: Iterable[tuple[int, int, int]] = (),
        other_properties: Iterable[tuple[int, int]] = (),
    ) -> SQLiteStore:
        """A new snapshot of entities in a file that does not exist or is empty, or in memory (`MEMORY`).

        The last entity of an id stays. `redirects`: {merged id: target id}. `manifest` is added to the counts and the
        snapshot id, which are made here. `other_values` (property, target, entities) and `other_properties` (property,
        entities) are the counts over the entities of the source that are not in the snapshot, as numbers. Raises
        SnapshotError. Nothing is kept for a crash: build under a temporary name and rename.
        """
        if str(path) != MEMORY and Path(path).exists() and Path(path).stat().st_size:
            raise SnapshotError(f"{path} exists already; a snapshot is built into a new file")
        store = cls(sqlite3.connect(str(path), isolation_level=None), str(path))
        try:
            filling.create_tables(store._connection)
            filling.write_entities(store._connection, entities)
            filling.record_redirects(store._connection, redirects or {})
            store._manifest = filling.finish_snapshot(store._connection, manifest or {}, other_values, other_properties)
        except sqlite3.OperationalError as error:  # a full disk, above all
            store.close()
            raise SnapshotError(f"cannot write snapshot {path}: {error}") from error
        except BaseException:
            store.close()
            raise
        store._redirected = bool(redirects)
        return store

    def entities(
        self,
        ids: Collection[str],
        *,
        languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:
        """See `Store.entities`."""
        ids_of = {number: entity_id for entity_id in ids if (number := signed_number(entity_id)) is not None}
        numbers = list(ids_of)
        read: dict[int, Entity] = {}
        for at in range(0, len(numbers), _CHUNK):
            read |= self._read_entities(numbers[at : at + _CHUNK], languages, properties)
        if self._redirected and len(read) < len(numbers):
            missing = json_text([number for number in numbers if number not in read])
            sql = "SELECT source, target FROM redirect WHERE source IN (SELECT value FROM json_each(?))"
            targets = dict(self._fetch_rows(sql, (missing,)))
            found = self._read_entities(sorted(set(targets.values())), languages, properties) if targets else {}
            read |= {source: found[target] for source, target in targets.items() if target in found}
        return {entity_id: read[number] for number, entity_id in ids_of.items() if number in read}

    def _read_entities(
        self, numbers: list[int], languages: Collection[str] | None, properties: Collection[str] | None
    ) -> dict[int, Entity]:
        ids = json_text(numbers)
        heads = self._fetch_rows(
            "SELECT id, sitelinks, datatype FROM entity WHERE id IN (SELECT value FROM json_each(?))", (ids,)
        )
        spoken, given = _language_condition("language", languages)
        rows = self._fetch_rows(
            f"SELECT entity, kind, language, text FROM term WHERE entity IN (SELECT value FROM json_each(?)){spoken}"
            " ORDER BY entity, language, kind, ordinal",
            (ids, *given),
        )
        terms = {number: [row[1:] for row in group] for number, group in groupby(rows, key=itemgetter(0))}
        statements = self._read_statements(ids, {number: id_of(number) for number, _, _ in heads}, properties)
        return {
            number: entity_from_parts(
                id_of(number), sitelinks, datatype, terms.get(number, ()), statements.get(number, ())
            )
            for number, sitelinks, datatype in heads
        }

    def _read_statements(
        self, ids: str, names: Mapping[int, str], properties: Collection[str] | None
    ) -> dict[int, list[Statement]]:
        sql = (
            "SELECT subject, property, rank, type, value, qualifiers, id, datatype FROM statement"
            " WHERE subject IN (SELECT value FROM json_each(?))"
        )
        order = " ORDER BY subject, property, ordinal"  # the order of the key: nothing is sorted
        parameters: tuple[str, ...] = (ids,)
        if properties is not None:
            property_numbers = [
                -number for number in map(signed_number, properties) if number is not None and number < 0
            ]
            if not property_numbers:
                return {}
            plus = "" if len(property_numbers) <= _SEEK else "+"  # the plus keeps the index from being asked for each
            sql += f" AND {plus}property IN (SELECT value FROM json_each(?))"
            parameters = (ids, json_text(property_numbers))
        return {
            number: [decode_statement(names[number], *row[1:]) for row in group]
            for number, group in groupby(self._fetch_rows(sql + order, parameters), key=itemgetter(0))
        }

    def find(self, names: Collection[str], *, languages: Collection[str] | None = None) -> dict[str, list[NameMatch]]:
        """See `Store.find`."""
        keys = {name: key for name in names if (key := normalise(name))}
        spoken, given = _language_condition("name.language", languages)
        sql = (
            f"SELECT name.key, name.entity, name.kind, name.language, term.text FROM name {schema.WITH_TERM}"
            f" WHERE name.key IN (SELECT value FROM json_each(?)){spoken}"
        )
        carriers: dict[str, list[Any]] = {}
        wanted = list(dict.fromkeys(keys.values()))
        for at in range(0, len(wanted), _CHUNK):
            for key, *row in self._fetch_rows(sql, (json_text(wanted[at : at + _CHUNK]), *given)):
                carriers.setdefault(key, []).append(row)
        matches = {key: matches_in_order(rows) for key, rows in carriers.items()}
        return {name: list(matches[key]) for name, key in keys.items() if key in matches}

    def matches_of_names_beginning(self, text: str, *, languages: Collection[str], limit: int) -> list[NameMatch]:
        """Labels and aliases in `languages` that begin so after `kg.base.model.normalise`, `limit` at most.

        The shortest names first, then labels, then the smallest ids. Of a beginning that very many names have only the
        first MOST_BEGINNING in the order of their letters are looked at. Not of the Store protocol: it is for people
        who type a name, and other stores have searches of their own.
        """
        key = normalise(text)
        if not key:
            return []
        sql = (
            "SELECT name.key, name.entity, name.kind, name.language, term.text"
            f" FROM (SELECT * FROM name WHERE key >= ? AND key < ? LIMIT ?) AS name {schema.WITH_TERM}"
            " WHERE name.language IN (SELECT value FROM json_each(?))"
        )
        # The upper bound: the text and the last character of Unicode, which sorts after every continuation.
        rows = self._fetch_rows(sql, (key, key + chr(0x10FFFF), MOST_BEGINNING, json_text(list(languages))))
        rows.sort(key=lambda row: (len(row[0]), row[2], row[1] < 0, abs(row[1])))
        return [name_match(*row) for _, *row in rows[:limit]]

    def referrers(
        self, pairs: Collection[tuple[str, str]], *, limit: int | None = None
    ) -> dict[tuple[str, str], list[str]]:
        """See `Store.referrers`."""
        referrers_of: dict[tuple[str, str], list[str]] = {}
        for pair, (prop, target) in self._valid_pairs_as_numbers(pairs):
            numbers: list[int] = []
            # Two queries keep the order of ids (items, then properties) without sorting a hub's millions.
            for side, order in ((">", "ASC"), ("<", "DESC")):
                left = -1 if limit is None else limit - len(numbers)  # LIMIT -1 means no limit
                if left:
                    rows = self._fetch_rows(  # by name, lest the planner reads the table of statements instead
                        "SELECT DISTINCT subject FROM statement INDEXED BY statement_target"
                        f" WHERE type = 2 AND rank > 0 AND property = ? AND value = ? AND subject {side} 0"
                        f" ORDER BY subject {order} LIMIT ?",
                        (prop, target, left),
                    )
                    numbers += [number for (number,) in rows]
            if numbers:
                referrers_of[pair] = [id_of(number) for number in numbers]
        return referrers_of

    def value_counts(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See `Store.value_counts`."""
        count_of: dict[tuple[str, str], int] = {}
        for pair, numbers in self._valid_pairs_as_numbers(pairs):
            rows = self._fetch_rows("SELECT entities FROM value_count WHERE property = ? AND target = ?", numbers)
            if rows:
                count_of[pair] = rows[0][0]
        return count_of

    def property_counts(self, properties: Collection[str]) -> dict[str, int]:
        """See `Store.property_counts`."""
        count_of: dict[str, int] = {}
        for prop in properties:
            number = signed_number(prop)
            if number is not None and number < 0:
                rows = self._fetch_rows("SELECT entities FROM property_count WHERE property = ?", (-number,))
                if rows:
                    count_of[prop] = rows[0][0]
        return count_of

    def values_of(self, prop: str, *, limit: int | None = None) -> list[tuple[str, int]]:
        """See `Store.values_of`."""
        number = signed_number(prop)
        if number is None or number > 0:
            return []
        rows = self._fetch_rows(
            "SELECT target, entities FROM value_count WHERE property = ?"
            " ORDER BY entities DESC, target < 0, abs(target) LIMIT ?",
            (-number, -1 if limit is None else limit),
        )
        return [(id_of(target), entities) for target, entities in rows]

    def ids(self) -> Iterator[str]:
        """See `Store.ids`."""
        for side in ("> 0 ORDER BY id", "< 0 ORDER BY id DESC"):
            for (number,) in self.stream_rows(f"SELECT id FROM entity WHERE id {side}"):
                yield id_of(number)

    def descriptions(self, languages: Sequence[str]) -> Iterator[str]:
        """See `Store.descriptions`."""
        places = {language: place for place, language in enumerate(languages)}
        sql = (
            "SELECT entity, language, text FROM term WHERE entity BETWEEN ? AND ? AND kind = ?"
            " AND language IN (SELECT value FROM json_each(?)) ORDER BY entity"
        )
        last = 0  # pages by range: the table of terms is in the order of entities
        while page := self._fetch_rows("SELECT id FROM entity WHERE id > ? ORDER BY id LIMIT ?", (last, 10_000)):
            first, last = page[0][0], page[-1][0]
            rows = self._fetch_rows(sql, (first, last, schema.DESCRIPTION, json_text(list(places))))
            for _, told in groupby(rows, key=itemgetter(0)):
                yield min(told, key=lambda row: places[row[1]])[2]

    def has_labels(self, language: str, *, among: int = 1_000_000) -> bool:
        """Whether any of the first `among` terms is a label in that language."""
        # No index is by language, so that all terms would be gone through where there is none.
        query = "SELECT 1 FROM (SELECT language, kind FROM term LIMIT ?) WHERE language = ? AND kind = 0 LIMIT 1"
        return bool(self._fetch_rows(query, (among, language)))

    def manifest(self) -> Mapping[str, Any]:
        """See `Store.manifest`."""
        if self._manifest is None:
            rows = self._fetch_rows("SELECT key, value FROM manifest")
            self._manifest = {key: orjson.loads(value) for key, value in rows}
        return self._manifest

    def all_entities(self, *, properties_first: bool = False) -> Iterator[Entity]:
        """Every entity: items by number and properties by number, or the other way round; memory does not grow."""
        sides = ["< 0 ORDER BY id DESC", "> 0 ORDER BY id"]
        for side in sides if properties_first else reversed(sides):
            numbers = self.stream_rows(f"SELECT id FROM entity WHERE id {side}")
            while batch := [id_of(number) for (number,) in islice(numbers, _BATCH)]:
                yield from self.entities(batch).values()

    def redirects(self) -> Iterator[tuple[str, str]]:
        """(merged id, target id) in the order of the numbers."""
        for source, target in self.stream_rows("SELECT source, target FROM redirect ORDER BY source"):
            yield id_of(source), id_of(target)

    def stream_rows(self, sql: str) -> Iterator[Any]:
        """The rows of a query over the tables of `kg.store.schema`, one after the other."""
        try:
            # Not the cursor itself: an abandoned generator would close it after the connection, which raises.
            yield from chain(self._connection.execute(sql))
        except sqlite3.DatabaseError as error:
            raise DamagedSnapshotError(f"cannot read snapshot {self.path}: {error}") from error

    def close(self) -> None:
        """See `Store.close`."""
        self._connection.close()

    def __enter__(self) -> SQLiteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _valid_pairs_as_numbers(
        self, pairs: Collection[tuple[str, str]]
    ) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
        for pair in dict.fromkeys(pairs):
            prop, target = signed_number(pair[0]), signed_number(pair[1])
            if prop is not None and prop < 0 and target is not None:
                if self._redirected:
                    rows = self._fetch_rows("SELECT target FROM redirect WHERE source = ?", (target,))
                    target = rows[0][0] if rows else target
                yield pair, (-prop, target)

    def _fetch_rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise DamagedSnapshotError(f"cannot read snapshot {self.path}: {error}") from error


def _language_condition(column: str, languages: Collection[str] | None) -> tuple[str, tuple[str, ...]]:
    """An SQL condition on a column of language codes, and its parameters; both empty where all languages are wanted."""
    if languages is None:
        return "", ()
    return f" AND {column} IN (SELECT value FROM json_each(?))", (json_text(list(languages)),)
