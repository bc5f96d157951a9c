"""The rows of a snapshot file as nodes and relationships.

The model is described in `kg.store.neo4j`. Every function streams in key order, so that it can continue after a key
and memory does not grow with the snapshot.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import orjson

from kg.base.ids import id_of
from kg.store import schema
from kg.store.entity_rows import RowGroups, whole_id

RANKS = {schema.PREFERRED: "preferred", schema.NORMAL: "normal", schema.DEPRECATED: "deprecated"}
VALUES_A_BLOCK = 5_000  # targets per node `:ValueList`
LONGEST_KEY = 1_000  # longest name in an index, in bytes; longer ones are stored there as hashes

_BEGIN = -(1 << 62)  # below all entity numbers; those of properties are negative
_START, _END = 580, 582  # P580 start time, P582 end time
_FARTHEST_YEAR = 10**14  # whose days are integers of 64 bits


@dataclass(frozen=True, kw_only=True, slots=True)
class RowPiece:
    """Rows that are written together or not at all: `key` is the position to continue after."""

    key: int | str
    rows: list[Any]
    size: int  # about so many characters
    count: int = 1  # nodes, or relationships


def entities(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
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
        node |= _terms(terms.of(number))
        if rows := literals.of(number):
            node["statements"] = _literals(rows)
        if rows := counts.of(number):
            node["value_counts"] = _json({f"P{prop}": count for _, prop, count in rows})
        size = 50 + sum(len(value) + 20 for value in node.values() if type(value) is str)
        yield RowPiece(key=number, rows=[node], size=size)


def missing_entities(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """Nodes of entities that occur as values but are not in the snapshot: [id, number], by number."""
    for (number,) in connection.execute(
        f"SELECT DISTINCT value FROM statement WHERE type = {schema.ENTITY} AND value > ?"
        " AND value NOT IN (SELECT id FROM entity) ORDER BY value",
        (_BEGIN if after is None else after,),
    ):
        yield RowPiece(key=number, rows=[[id_of(number), number]], size=30)


def names(connection: sqlite3.Connection, after: str | None = None) -> Iterator[RowPiece]:
    """Name nodes: [key, carriers], in binary order of the keys."""
    rows = connection.execute(
        f"SELECT name.key, name.entity, name.kind, name.language, term.text FROM name {schema.WITH_TERM}"
        " WHERE name.key > ? ORDER BY name.key",
        (after or "",),
    )
    for key, group in groupby(rows, key=itemgetter(0)):
        carriers = _json([list(row[1:]) for row in group])
        yield RowPiece(key=key, rows=[[stored_key(key), carriers]], size=len(key) + len(carriers))


def redirects(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """Redirect nodes: [id, target], by number."""
    for source, target in connection.execute(
        "SELECT source, target FROM redirect WHERE source > ? ORDER BY source", (_BEGIN if after is None else after,)
    ):
        yield RowPiece(key=source, rows=[[id_of(source), id_of(target)]], size=30)


def value_lists(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """ValueList nodes: [property, block, targets, entities], in that order; the key is how many there are."""
    rows = connection.execute(
        "SELECT property, target, entities FROM value_count ORDER BY property, entities DESC, target < 0, abs(target)"
    )
    place = 0
    for prop, group in groupby(rows, key=itemgetter(0)):
        block = 0
        while listed := list(islice(group, VALUES_A_BLOCK)):
            place += 1
            if after is None or place > after:
                columns = [[row[1] for row in listed], [row[2] for row in listed]]
                yield RowPiece(key=place, rows=[[f"P{prop}", block, *columns]], size=20 * len(listed))
            block += 1


def relationships(connection: sqlite3.Connection, after: int | None = None) -> Iterator[RowPiece]:
    """Statements whose value is an item or a property: [subject, [[target, type, properties], ...]] a subject."""
    rows = connection.execute(
        "SELECT subject, property, ordinal, rank, value, qualifiers, id, datatype FROM statement"
        f" WHERE subject > ? AND type = {schema.ENTITY} ORDER BY subject, property, ordinal",
        (_BEGIN if after is None else after,),
    )
    for subject, group in groupby(rows, key=itemgetter(0)):
        name = id_of(subject)
        stated: list[list[Any]] = []
        size = 0
        for _, prop, ordinal, rank, value, qualifiers, statement_id, datatype in group:
            properties = {"id": whole_id(name, statement_id), "rank": RANKS[rank], "ordinal": ordinal}
            if qualifiers is not None:
                properties["qualifiers"] = qualifiers
                properties |= _span(qualifiers)
                size += len(qualifiers)
            kind = schema.DATATYPES[datatype] if isinstance(datatype, int) else datatype
            if kind != default_datatype(value):
                properties["datatype"] = kind or ""
            stated.append([id_of(value), f"P{prop}", properties])
            size += 120
        yield RowPiece(key=subject, rows=[[name, stated]], size=size, count=len(stated))


def batches(pieces: Iterable[RowPiece], *, rows: int, size: int) -> Iterator[RowPiece]:
    """Pieces put together until `rows` things or `size` characters are reached, in order, never split."""
    held: list[Any] = []
    weight = count = 0
    key: int | str = 0
    for piece in pieces:
        held += piece.rows
        key = piece.key
        weight += piece.size
        count += piece.count
        if count >= rows or weight >= size:
            yield RowPiece(key=key, rows=held, size=weight, count=count)
            held, weight, count = [], 0, 0
    if held:
        yield RowPiece(key=key, rows=held, size=weight, count=count)


def stored_key(name: str) -> str:
    """The form of a normalised name in the index: itself, or its hash where it is very long."""
    data = name.encode()
    # A normalised name has no control character, so no name looks like a hash.
    return name if len(data) <= LONGEST_KEY else "\x01" + hashlib.sha256(data).hexdigest()


def default_datatype(target: int) -> str:
    """The datatype of a statement whose relationship names none."""
    return "wikibase-item" if target > 0 else "wikibase-property"


def _terms(rows: list[Any]) -> dict[str, str]:
    node: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    for _, language, kind, text in rows:
        if kind == schema.LABEL:
            node[f"label_{language}"] = text
        elif kind == schema.DESCRIPTION:
            node[f"description_{language}"] = text
        else:
            aliases.setdefault(f"aliases_{language}", []).append(text)
    return node | {key: _json(texts) for key, texts in aliases.items()}


def _literals(rows: list[Any]) -> str:
    by_property: dict[str, list[Any]] = {}
    for _, prop, ordinal, rank, kind, value, qualifiers, name, datatype in rows:
        text = whole_id("", name) if isinstance(name, bytes) else name
        by_property.setdefault(f"P{prop}", []).append([ordinal, rank, kind, value, qualifiers, text, datatype])
    return _json(by_property)


def _span(qualifiers: str) -> dict[str, int]:
    """`start` and `end` of a statement, where they are known."""
    span: dict[str, int] = {}
    for prop, kind, value in orjson.loads(qualifiers):
        if kind == schema.TIME and prop in (_START, _END) and abs(value[0]) <= _FARTHEST_YEAR:
            year, month, day = value[:3]
            span.setdefault("start" if prop == _START else "end", year * 10_000 + month * 100 + day)
    return span


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
