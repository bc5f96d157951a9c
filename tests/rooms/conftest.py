"""The bundled sample as a snapshot and what the demo makes of it, once for all rooms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from abstraction.files.rows import TieredRow, read_tiered
from granola.commands import Demo
from kg.graph.graph import Graph
from kg.store import open_store
from kg.store.sqlite import SQLiteStore


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `granola demo`."""
    out = tmp_path_factory.mktemp("rooms") / "demo"
    Demo(out=out).run()
    return out


@pytest.fixture
def store(demo: Path) -> Iterator[SQLiteStore]:
    with closing(open_store(demo / "snapshot.sqlite")) as opened:
        assert isinstance(opened, SQLiteStore)
        yield opened


@pytest.fixture
def graph(store: SQLiteStore) -> Graph:
    return Graph(store)


@pytest.fixture
def row(demo: Path) -> TieredRow:
    """Where Barack Obama was born: Honolulu, its county, Hawaii, the United States."""
    return next(row for row in read_tiered(demo / "tiers.jsonl") if row.id == "demo-001")
