"""What a snapshot says as one hash, whatever file, machine or time it comes from.

Each entity is hashed by itself and the hashes are added up, so that the sum can be made in any order, by several
processes, while entities come and go.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import msgspec

from kg.store import schema

_SIZE = 32  # bytes of SHA-256
_COUNTED: Mapping[str, str] = {
    "redirect": "SELECT source, target FROM redirect ORDER BY source",
    "value_count": "SELECT property, target, entities FROM value_count ORDER BY property, target",
    "property_count": "SELECT property, entities FROM property_count ORDER BY property",
}
_ROWS = 5000
_encode = msgspec.msgpack.Encoder().encode


def digest_of(record: bytes) -> int:
    """The share of an entity by its record (`kg.store.entity_rows.Record`) as MessagePack."""
    return int.from_bytes(hashlib.sha256(record).digest(), "big")


def summed(digests: int) -> bytes:
    """A sum of digests, modulo 2^256."""
    return (digests % (1 << 8 * _SIZE)).to_bytes(_SIZE, "big")


def entities_digest(connection: sqlite3.Connection, number: int | None = None) -> int:
    """The sum over all entities in the file, or the digest of one."""
    return sum(digest_of(_encode(record)) for record in _records(connection, number))


def content_hash(connection: sqlite3.Connection, digest: int | None = None) -> str:
    """Hex SHA-256 of the content: the same for the same content under the same schema version.

    `digest`: the sum over the entities where it is known.
    """
    if digest is None:
        digest = entities_digest(connection)
    whole = hashlib.sha256(f"schema {schema.SCHEMA_VERSION}\n".encode())
    whole.update(summed(digest))
    for table, query in _COUNTED.items():
        whole.update(f"{table}\n".encode())
        rows = connection.execute(query)
        while batch := rows.fetchmany(_ROWS):
            whole.update(b"".join(map(_encode, batch)))
    return whole.hexdigest()


def _records(connection: sqlite3.Connection, number: int | None) -> Iterator[tuple[Any, ...]]:
    where = "" if number is None else f" WHERE {{column}} = {number:d}"
    terms = _DigestGroups(
        connection.execute(
            f"SELECT entity, language, kind, ordinal, text FROM term{where.format(column='entity')}"
            " ORDER BY entity, language, kind, ordinal"
        )
    )
    statements = _DigestGroups(
        connection.execute(
            "SELECT subject, property, ordinal, rank, type, value, qualifiers, id, datatype"
            f" FROM statement{where.format(column='subject')} ORDER BY subject, property, ordinal"
        )
    )
    query = f"SELECT id, sitelinks, datatype FROM entity{where.format(column='id')} ORDER BY id"
    for entity, sitelinks, datatype in connection.execute(query):
        yield entity, sitelinks, datatype, terms.of(entity), statements.of(entity)


class _DigestGroups:
    """The columns of all rows of one entity after another; `of` is asked in ascending order."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._groups = groupby(rows, key=itemgetter(0))
        self._next = next(self._groups, None)

    def of(self, number: int) -> list[Any]:
        while self._next is not None and self._next[0] < number:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] != number:
            return []
        found = list(chain.from_iterable(self._next[1]))
        self._next = next(self._groups, None)
        return found
