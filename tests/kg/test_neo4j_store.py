"""The Neo4j mirror: the contract, and what is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from neo4j_server import mirror_of, needs_server, snapshot_of, the_server
from store_contract import ALL, PARIS, StoreContract, as_read, statement

from kg.errors import MirrorError
from kg.model import Entity
from kg.store import open_store
from kg.store.neo4j import Neo4jStore, escaped
from kg.store.neo4j_rows import LONGEST_KEY
from kg.store.sqlite import SQLiteStore


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with the_server() as found:
        yield found


@needs_server
class TestContract(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path, address: str) -> Iterator[Callable[..., Neo4jStore]]:
        made: list[Neo4jStore] = []

        def make(entities: Iterable[Entity], **more: object) -> Neo4jStore:
            made.append(mirror_of(snapshot_of(tmp_path / "file", entities, **more), address))  # type: ignore[arg-type]
            return made[-1]

        yield make
        for store in made:
            store.close()
