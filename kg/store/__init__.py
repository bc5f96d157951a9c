"""Stores of snapshots: a file, or a Neo4j database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kg.store.neo4j import Neo4jStore
    from kg.store.sqlite import SQLiteStore

__all__ = ["is_address", "open_store"]


def is_address(where: Path | str) -> bool:
    """Whether `where` names a server, as bolt://localhost:7687 does, rather than a file."""
    return isinstance(where, str) and "://" in where


def open_store(where: Path | str) -> SQLiteStore | Neo4jStore:
    """Open a snapshot for reading: a file, or its mirror at `bolt://HOST:PORT[/DATABASE]` (also neo4j://).

    A server's credentials are taken from NEO4J_USER and NEO4J_PASSWORD. Raises FileNotFoundError or
    `SnapshotError`; for a mirror that is not there or not to be read, `MirrorError` of those.
    """
    if is_address(where):
        from kg.store.neo4j import Neo4jStore

        return Neo4jStore.open(str(where))
    from kg.store.sqlite import SQLiteStore

    return SQLiteStore.open(where)
