"""Where a snapshot lives: entities by id, ids by name."""

from __future__ import annotations

from pathlib import Path

from kg.store import is_address, open_store
from kg.store.sqlite import SQLiteStore


def test_entities_by_id_and_by_name(store: SQLiteStore) -> None:
    assert "Q18094" in [match.id for match in store.find(["Honolulu"])["Honolulu"]]
    found = store.entities(["Q18094", "Q999999999999"])
    assert [(qid, one.labels["en"]) for qid, one in found.items()] == [("Q18094", "Honolulu")]


def test_a_server_has_an_address(demo: Path) -> None:
    assert is_address("bolt://localhost:7687")
    assert not is_address(demo / "snapshot.sqlite")
    with open_store(demo / "snapshot.sqlite") as store:
        assert store.manifest()["schema_version"] >= 1
