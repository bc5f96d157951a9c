"""Snapshots for other programs, and back to the same id; checked and compared."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from kg.building.other_sources import build_from_parquet
from kg.export.comparison import diff, verify
from kg.export.parquet import export_parquet
from kg.export.rdf_writer import export_rdf
from kg.store import open_store


def test_parquet_and_back(demo: Path, tmp_path: Path) -> None:
    export_parquet(demo / "snapshot.sqlite", tmp_path / "tables")
    build_from_parquet(tmp_path / "tables", tmp_path / "again.sqlite")
    with open_store(demo / "snapshot.sqlite") as old, open_store(tmp_path / "again.sqlite") as new:
        assert old.manifest()["snapshot_id"] == new.manifest()["snapshot_id"]


def test_rdf_is_wikidatas_own(demo: Path, tmp_path: Path) -> None:
    report = export_rdf(demo / "snapshot.sqlite", tmp_path / "out.nt")
    text = (tmp_path / "out.nt").read_text(encoding="utf-8")
    assert text.count("\n") == report.triples
    assert "<http://www.wikidata.org/entity/Q76> <http://www.wikidata.org/prop/direct/P19>" in text


def test_a_whole_snapshot_is_well_and_a_changed_one_is_not(demo: Path, tmp_path: Path) -> None:
    assert verify(demo / "snapshot.sqlite").problems == ()
    changed = tmp_path / "changed.sqlite"
    shutil.copy(demo / "snapshot.sqlite", changed)
    with sqlite3.connect(changed) as database:
        database.execute("UPDATE entity SET sitelinks = sitelinks + 1")
    assert verify(changed).problems


def test_a_snapshot_does_not_differ_from_itself(demo: Path) -> None:
    assert diff(demo / "snapshot.sqlite", demo / "snapshot.sqlite").same
