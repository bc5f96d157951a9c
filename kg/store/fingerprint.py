"""A hash of what a snapshot says, whatever file, machine or time it comes from."""

from __future__ import annotations

import hashlib
import sqlite3

import orjson

# Codes, not layout: rows in key order, datatypes by name where the file has a name for them.
_CONTENT = (
    "SELECT id, sitelinks, datatype FROM entity ORDER BY id",
    "SELECT entity, language, kind, ordinal, text FROM term ORDER BY entity, language, kind, ordinal",
    "SELECT subject, property, ordinal, rank, type, value, qualifiers,"
    " CASE typeof(id) WHEN 'blob' THEN hex(id) ELSE id END, datatype"
    " FROM statement ORDER BY subject, property, ordinal",
    "SELECT source, target FROM redirect ORDER BY source",
    "SELECT property, target, entities FROM value_count ORDER BY property, target",
    "SELECT property, entities FROM property_count ORDER BY property",
)


def content_hash(connection: sqlite3.Connection) -> str:
    """Hex SHA-256 over the rows of a snapshot in key order. Equal content gives equal hashes, and only it."""
    digest = hashlib.sha256()
    for query in _CONTENT:
        digest.update(query.encode())
        rows = connection.execute(query)
        while batch := rows.fetchmany(5000):
            digest.update(b"\n".join(map(orjson.dumps, batch)) + b"\n")
    return digest.hexdigest()
