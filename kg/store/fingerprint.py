"""A hash of what a snapshot says, whatever file, machine or time it comes from."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping

import orjson

from kg.store import schema

_CONTENT: Mapping[str, str] = {
    "entity": "SELECT id, sitelinks, datatype FROM entity ORDER BY id",
    "term": ("SELECT entity, language, kind, ordinal, text FROM term ORDER BY entity, language, kind, ordinal"),
    "statement": (
        "SELECT subject, property, ordinal, rank, type, value, qualifiers,"
        " CASE typeof(id) WHEN 'blob' THEN hex(id) ELSE id END, datatype"
        " FROM statement ORDER BY subject, property, ordinal"
    ),
    "redirect": "SELECT source, target FROM redirect ORDER BY source",
    "value_count": "SELECT property, target, entities FROM value_count ORDER BY property, target",
    "property_count": "SELECT property, entities FROM property_count ORDER BY property",
}


def content_hash(connection: sqlite3.Connection) -> str:
    """Hex SHA-256 over the rows in key order: the same for the same content under the same schema version."""
    digest = hashlib.sha256(f"schema {schema.SCHEMA_VERSION}\n".encode())
    for table, query in _CONTENT.items():
        digest.update(f"{table}\n".encode())
        rows = connection.execute(query)
        while batch := rows.fetchmany(5000):
            digest.update(b"\n".join(map(orjson.dumps, batch)) + b"\n")
    return digest.hexdigest()
