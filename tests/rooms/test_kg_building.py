"""How a snapshot is built: from entities to one file that says what it was made of."""

from __future__ import annotations

import json
from pathlib import Path

from kg.base.scope import Scope
from kg.building.snapshot import build

WORLD = [
    {"type": "item", "id": "Q1", "labels": {"en": {"language": "en", "value": "Lyon"}}},
    {"type": "item", "id": "Q2", "labels": {"en": {"language": "en", "value": "Paris"}}},
]


def test_the_same_source_makes_the_same_snapshot(tmp_path: Path) -> None:
    source = tmp_path / "dump.ndjson"
    source.write_text("".join(json.dumps(one) + "\n" for one in WORLD))
    first, second = (build([source], tmp_path / name).manifest for name in ("a.sqlite", "b.sqlite"))
    assert first["snapshot_id"] == second["snapshot_id"]
    assert first["counts"]["entities"] == 2


def test_a_selection_takes_what_it_names(tmp_path: Path) -> None:
    source = tmp_path / "dump.ndjson"
    source.write_text("".join(json.dumps(one) + "\n" for one in [*WORLD, {"no": "entity"}]))
    report = build([source], tmp_path / "one.sqlite", scope=Scope(names=frozenset({"Paris"})))
    assert report.manifest["counts"]["entities"] == 1
    assert sum(report.rejects.values()) == 1
