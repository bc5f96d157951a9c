"""A snapshot file compared with its own record (`verify`), a mirror with its file (`verify_mirror`), files (`diff`).

Differences of two files are those of entities, statements by property, terms and redirects, found by SQL over both.
Statements with equal subject and id are the same statement; it has changed where its rank, value or qualifiers differ.
The statements and terms of an added or removed entity count as added or removed. Numbers of sitelinks, counts over the
source, and all order are not compared. Differences are kept in SQLite's temporary files.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from kg.base.model import id_of
from kg.errors import DamagedMirrorError, DamagedSnapshotError
from kg.store import filling, schema
from kg.store.entity_rows import full_statement_id
from kg.store.neo4j import Address, Neo4jClient, Neo4jStore
from kg.store.neo4j_push import WRITE_SECONDS, count_difference_lines
from kg.store.protocol import Store
from kg.store.sqlite import SQLiteStore, read_only_connection

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
        with SQLiteStore.open(path) as store, closing(read_only_connection(path)) as connection:
            checks: dict[str, Callable[[], Iterator[str]]] = {
                "pages": lambda: (
                    f"SQLite: {message}"
                    # at most 20 faults, as a torn file has thousands
                    for (message,) in connection.execute("PRAGMA integrity_check(20)")
                    if message != "ok"
                ),
                "counts": lambda: _difference_lines(store.manifest()["counts"], filling.content_counts(connection)),
                "content": lambda: _difference_lines(
                    store.manifest(), {"snapshot_id": filling.content_hash(connection)}
                ),
            }
            return _run_checks(checks, progress)
    except DamagedSnapshotError as error:
        return Verification(checked=(), problems=(str(error),))


def _run_checks(
    checks: Mapping[str, Callable[[], Iterator[str]]], progress: Callable[[str], None] | None
) -> Verification:
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


def _difference_lines(in_manifest: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for key, value in found.items():
        if in_manifest.get(key) != value:
            yield f"{key}: the manifest says {in_manifest.get(key)!r}, found is {value!r}"


def verify_mirror(
    address: str, against: Path | str, *, sample: int | None = SAMPLE, progress: Callable[[str], None] | None = None
) -> Verification:
    """Compare a mirror with a snapshot file: all counts, and `sample` entities (None: all) in full.

    `progress` is called with each check as it begins. Raises MirrorError where there is no mirror to read, and the
    errors of `SQLiteStore.open`.
    """
    with (
        SQLiteStore.open(against) as file,
        closing(read_only_connection(against)) as connection,
        Neo4jStore.open(address, query_seconds=WRITE_SECONDS) as mirror,
        closing(Neo4jClient(Address.parse(address), query_seconds=WRITE_SECONDS)) as client,
    ):
        checks: dict[str, Callable[[], Iterator[str]]] = {
            "manifest": lambda: _difference_lines(
                file.manifest(), {key: mirror.manifest().get(key) for key in _OF_CONTENT}
            ),
            "counts": lambda: iter(count_difference_lines(client, connection)),
            "entities": lambda: _entity_difference_lines(file, mirror, connection, sample),
        }
        return _run_checks(checks, progress)


def _entity_difference_lines(
    file: Store, mirror: Store, connection: sqlite3.Connection, sample: int | None
) -> Iterator[str]:
    drawn = "entity" if sample is None else f"(SELECT id FROM entity ORDER BY random() LIMIT {sample:d})"
    numbers = connection.execute(f"SELECT id FROM {drawn} ORDER BY id")
    wrong: list[str] = []
    while ids := [id_of(number) for (number,) in islice(numbers, _BATCH)]:
        expected, actual = file.entities(ids), mirror.entities(ids)
        wrong += [entity_id for entity_id in ids if expected.get(entity_id) != actual.get(entity_id)]
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        yield f"{len(wrong)} entities differ: {', '.join(wrong[:_SHOWN])}{more}"


_KINDS = ("added", "removed", "changed")

# Ids of statements repeat only in damaged sources; then the place among the repeats is the key. An alias is
# known by its text: it is added or removed, never changed.
_SIDE = f"""
CREATE TEMP VIEW {{0}}_statement AS SELECT *, (
    SELECT count(*) FROM {{0}}.statement AS one WHERE one.subject = each.subject AND one.property = each.property
    AND one.id IS each.id AND one.ordinal < each.ordinal) AS repeat FROM {{0}}.statement AS each;
CREATE TEMP VIEW {{0}}_term AS SELECT *, CASE kind WHEN {schema.ALIAS} THEN text END AS alias FROM {{0}}.term;
"""
_DIFFERENCES = """
CREATE TEMP TABLE statements AS
SELECT old.subject, old.property, old.ordinal, old.id, old.rank AS old_rank, old.type AS old_type,
    old.value AS old_value, old.qualifiers AS old_qualifiers, new.rank AS new_rank, new.type AS new_type,
    new.value AS new_value, new.qualifiers AS new_qualifiers
FROM old_statement AS old LEFT JOIN new_statement AS new
    ON new.subject = old.subject AND new.property = old.property AND new.id IS old.id AND new.repeat = old.repeat
WHERE new.subject IS NULL OR (old.rank, old.type, old.value) IS NOT (new.rank, new.type, new.value)
    OR (old.qualifiers IS NOT new.qualifiers AND unordered(old.qualifiers) <> unordered(new.qualifiers))
UNION ALL
SELECT subject, property, ordinal, id, NULL, NULL, NULL, NULL, rank, type, value, qualifiers
FROM new_statement AS new WHERE NOT EXISTS (SELECT 1 FROM old_statement AS old WHERE old.subject = new.subject
    AND old.property = new.property AND old.id IS new.id AND old.repeat = new.repeat);
CREATE INDEX temp.statements_subject ON statements (subject);

CREATE TEMP TABLE terms AS
SELECT old.entity, old.language, old.kind, old.ordinal, old.text AS old, new.text AS new
FROM old_term AS old LEFT JOIN new_term AS new ON new.entity = old.entity AND new.language = old.language
    AND new.kind = old.kind AND new.alias IS old.alias
WHERE new.text IS NOT old.text
UNION ALL
SELECT entity, language, kind, ordinal, NULL, text FROM new_term AS new WHERE NOT EXISTS (SELECT 1 FROM old_term AS old
    WHERE old.entity = new.entity AND old.language = new.language AND old.kind = new.kind AND old.alias IS new.alias);
CREATE INDEX temp.terms_entity ON terms (entity);

CREATE TEMP TABLE entities AS
SELECT differing.id,
    CASE WHEN old.id IS NULL THEN 'added' WHEN new.id IS NULL THEN 'removed' ELSE 'changed' END AS kind,
    CASE WHEN new.id IS NULL THEN redirect.target END AS target
FROM (SELECT subject AS id FROM statements UNION SELECT entity FROM terms
    UNION SELECT id FROM (SELECT id, datatype FROM old.entity EXCEPT SELECT id, datatype FROM new.entity)
    UNION SELECT id FROM (SELECT id, datatype FROM new.entity EXCEPT SELECT id, datatype FROM old.entity)) AS differing
LEFT JOIN old.entity AS old ON old.id = differing.id LEFT JOIN new.entity AS new ON new.id = differing.id
LEFT JOIN new.redirect AS redirect ON redirect.source = differing.id;
"""
_REDIRECTS = """
SELECT source, old.target AS old, new.target AS new FROM old.redirect AS old LEFT JOIN new.redirect AS new
    USING (source) WHERE new.target IS NOT old.target
UNION ALL SELECT source, NULL, target FROM new.redirect WHERE source NOT IN (SELECT source FROM old.redirect)
ORDER BY source
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotDifference:
    """Changes counted by kind (added, removed, changed): of entities, statements, properties, terms, redirects.

    `old` and `new` are the snapshots' ids. Of the removed entities those are "merged", too, that the new snapshot
    redirects; `aspects` counts what changed of statements. Properties come in the order of how much changed.
    """

    old: str
    new: str
    entities: Mapping[str, int]
    statements: Mapping[str, int]
    aspects: Mapping[str, int]
    properties: Mapping[str, Mapping[str, int]]
    terms: Mapping[str, Mapping[str, int]]
    redirects: Mapping[str, int]

    @property
    def same(self) -> bool:
        """Whether nothing that is compared differs."""
        return not any((*self.entities.values(), *self.redirects.values()))

    def to_json(self) -> dict[str, Any]:
        """One JSON object."""
        return {"same": self.same, **asdict(self)}


def diff(
    old: Path | str, new: Path | str, *, on_change: Callable[[dict[str, Any]], object] | None = None
) -> SnapshotDifference:
    """Compare two snapshot files; `on_change` is given every change as a JSON object. Raises as `SQLiteStore.open`.

    A change has `what` (entity, statement, label, description, alias, redirect), `kind` and `entity`; where there are
    any, `property`, `statement`, `language`, `aspects` of a changed statement (rank, value, qualifiers), `merged_into`
    of a removed entity, and `old` and `new`. Each entity is followed by its statements and terms.
    """
    ids = []
    counts = defaultdict[str, dict[str, int]](lambda: dict.fromkeys(_KINDS, 0))
    properties = defaultdict[str, dict[str, int]](lambda: dict.fromkeys(_KINDS, 0))
    aspects: Counter[str] = Counter()
    merged = 0
    with closing(sqlite3.connect("", uri=True)) as connection:  # differences are kept in a temporary file
        connection.create_function("unordered", 1, _qualifiers_as_sorted_text, deterministic=True)
        for side, path in (("old", old), ("new", new)):
            with SQLiteStore.open(path) as store:
                ids.append(str(store.manifest()["snapshot_id"]))
            uri = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
            connection.execute(f"ATTACH ? AS {side}", (uri,))  # read only: comparing leaves no journal
            connection.executescript(_SIDE.format(side))
        try:
            for change in _changes(connection):
                counts[change["what"]][change["kind"]] += 1
                merged += "merged_into" in change  # a merged entity is one of the removed
                aspects.update(change.get("aspects", ()))
                if "property" in change:
                    properties[change["property"]][change["kind"]] += 1
                if on_change is not None:
                    on_change(change)
        except sqlite3.DatabaseError as error:
            raise DamagedSnapshotError(f"cannot compare {old} and {new}: {error}") from error
    return SnapshotDifference(
        old=ids[0],
        new=ids[1],
        entities={**counts["entity"], "merged": merged},
        statements=counts["statement"],
        aspects=dict(sorted(aspects.items())),
        properties=dict(sorted(properties.items(), key=lambda item: (-sum(item[1].values()), int(item[0][1:])))),
        terms={what: counts[what] for what in schema.KINDS if what in counts},
        redirects=counts["redirect"],
    )


def _changes(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    connection.executescript(_DIFFERENCES)
    for number, kind, target in connection.execute("SELECT id, kind, target FROM entities ORDER BY id"):
        entity = id_of(number)
        merged = {} if target is None else {"merged_into": id_of(target)}
        yield {"what": "entity", "kind": kind, "entity": entity} | merged
        stated = "SELECT * FROM statements WHERE subject = ? ORDER BY old_rank IS NULL, property, ordinal"
        for _, prop, _, stored, *columns in connection.execute(stated, (number,)):
            old, new = columns[:4], columns[4:]
            statement = {"property": f"P{prop}", "statement": full_statement_id(entity, stored)}
            yield _change_record(
                "statement",
                entity,
                _statement_as_json(*old),
                _statement_as_json(*new),
                statement | _aspects_if_changed(old, new),
            )
        worded = "SELECT * FROM terms WHERE entity = ? ORDER BY language, kind, old IS NULL, ordinal"
        for _, language, what, _, before, after in connection.execute(worded, (number,)):
            yield _change_record(schema.KINDS[what], entity, before, after, {"language": language})
    for source, before, after in connection.execute(_REDIRECTS):
        old, new = (None if target is None else id_of(target) for target in (before, after))
        yield _change_record("redirect", id_of(source), old, new, {})


def _change_record(what: str, entity: str, old: Any, new: Any, about: Mapping[str, Any]) -> dict[str, Any]:
    kind = "added" if old is None else "removed" if new is None else "changed"
    sides = {name: value for name, value in (("old", old), ("new", new)) if value is not None}
    return {"what": what, "kind": kind, "entity": entity, **about, **sides}


def _aspects_if_changed(old: list[Any], new: list[Any]) -> dict[str, list[str]]:
    if old[0] is None or new[0] is None:
        return {}
    differs = {
        "rank": old[0] != new[0],
        "value": old[1:3] != new[1:3],
        "qualifiers": _qualifiers_as_sorted_text(old[3]) != _qualifiers_as_sorted_text(new[3]),
    }
    return {"aspects": [name for name, is_so in differs.items() if is_so]}


def _qualifiers_as_sorted_text(qualifiers: str | None) -> str:
    return repr(sorted(map(orjson.dumps, orjson.loads(qualifiers or "[]"))))  # RDF and other tools lose their order


def _statement_as_json(rank: int | None, kind: int, value: Any, qualifiers: str | None) -> dict[str, Any] | None:
    if rank is None:
        return None
    statement: dict[str, Any] = {"rank": schema.RANKS[rank], "value": _stored_value_as_json(kind, value)}
    if qualifiers is not None:
        statement["qualifiers"] = [
            [f"P{prop}", _stored_value_as_json(kind, value)] for prop, kind, value in orjson.loads(qualifiers)
        ]
    return statement


def _stored_value_as_json(kind: int, value: Any) -> Any:
    """A stored value as JSON: ids and texts unchanged, other values as described in `kg.store.schema`."""
    if kind in (schema.SOMEVALUE, schema.NOVALUE):
        return {"kind": "somevalue" if kind == schema.SOMEVALUE else "novalue"}
    if kind == schema.ENTITY:
        return id_of(value)
    return value if kind in (schema.OTHER_ENTITY, schema.STRING) or not isinstance(value, str) else orjson.loads(value)
