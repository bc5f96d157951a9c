"""The Neo4j server that tests run against: NEO4J_URI names it, NEO4J_SCRIPT can stop and start it.

A worker of a parallel run waits until it has the server for itself: there is one database.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from kg.base.model import Entity
from kg.store.neo4j import Neo4jStore
from kg.store.neo4j_push import push
from kg.store.sqlite import SQLiteStore

URI = os.environ.get("NEO4J_URI", "")
SCRIPT = os.environ.get("NEO4J_SCRIPT", "")
SERVER = [  # the marks of a module whose tests need the server: in a parallel run, one worker has them all
    pytest.mark.skipif(not URI, reason="NEO4J_URI names no Neo4j server to test against"),
    pytest.mark.xdist_group("neo4j"),
]


@contextmanager
def the_server() -> Iterator[str]:
    """The server's address, for this process alone."""
    with (Path(tempfile.gettempdir()) / "granola-neo4j-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield URI


def snapshot_of(
    path: Path,
    entities: Iterable[Entity],
    *,
    redirects: Mapping[str, str] | None = None,
    other_values: Iterable[tuple[int, int, int]] = (),
    other_properties: Iterable[tuple[int, int]] = (),
) -> Path:
    """A snapshot file; see `SQLiteStore.create`."""
    path.unlink(missing_ok=True)
    SQLiteStore.create(
        path, entities, redirects=redirects, other_values=other_values, other_properties=other_properties
    ).close()
    return path


def mirror_of(path: Path, address: str) -> Neo4jStore:
    """The mirror of a snapshot file, put there in place of any other."""
    push(path, address, replace=True)
    return Neo4jStore.open(address)
