"""Parquet exports: what comes back is what went out, to the snapshot's id."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from store_contract import ALL
from strategies import entities as any_entities
from test_sqlite_store import fill

from kg.base.model import Entity
from kg.building.other_sources import build_from_parquet
from kg.errors import ExportError, SnapshotError, SourceError
from kg.export.comparison import verify
from kg.export.parquet import export_parquet
from kg.reading.parquet_tables import OF_ENTITIES, TABLES, ParquetTables, entities_of, rows_of
from kg.store import open_store
from tests.thorough import examples


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "s.sqlite"
    more = {"other_values": [(31, 515, 7), (31, 90, 2)], "other_properties": [(31, 9), (9999, 4)]}
    fill(path, ALL, redirects={"Q77": "Q90", "P5": "P279"}, **more).close()  # type: ignore[arg-type]
    return path


@settings(max_examples=examples(50))
@given(st.lists(any_entities(), max_size=4, unique_by=lambda entity: entity.id))
def test_rows_come_back_as_the_entities(entities: list[Entity]) -> None:
    rows = rows_of(entities)
    assert all(len(row) == len(TABLES[table]) for table, found in rows.items() for row in found)
    # Empty maps of aliases and the order of languages mean nothing.
    assert list(entities_of(*(rows[table] for table in OF_ENTITIES))) == entities


def test_rows_that_belong_to_nothing_are_told() -> None:
    rows = rows_of(ALL)
    with pytest.raises(SourceError, match="the table terms has rows of Q90, which the entities do not have"):
        list(entities_of(rows["entities"][1:], *(rows[table] for table in OF_ENTITIES[1:])))


def test_a_snapshot_comes_back_with_its_id(snapshot: Path, tmp_path: Path) -> None:
    report = export_parquet(snapshot, tmp_path / "out")
    manifest = build_from_parquet(tmp_path / "out", tmp_path / "back.sqlite").manifest
    with open_store(snapshot) as store:
        assert manifest["snapshot_id"] == store.manifest()["snapshot_id"]
        assert manifest["counts"] == store.manifest()["counts"]
        assert report.rows["statements"] == manifest["counts"]["statements"]
        assert report.rows["redirects"] == 2
    assert verify(tmp_path / "back.sqlite").problems == ()


def test_the_tables_are_as_told_and_the_same_every_time(snapshot: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_parquet(snapshot, tmp_path / name)
    for table, columns in TABLES.items():
        file = tmp_path / "one" / f"{table}.parquet"
        schema = parquet.read_schema(file)
        assert {name: str(schema.field(name).type) for name in schema.names} == columns
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    counts = {tuple(row[:2]): tuple(row[2:]) for row in ParquetTables(tmp_path / "one").rows("value_counts")}
    assert counts["P31", "Q515"] == (10, 3)  # 7 elsewhere in the source and Q90, Q830149, P31 here


def test_tables_in_parts_are_read_in_the_order_of_their_names(snapshot: Path, tmp_path: Path) -> None:
    export_parquet(snapshot, tmp_path / "out")
    whole = tmp_path / "out" / "statements.parquet"
    rows = parquet.read_table(whole)
    (tmp_path / "out" / "statements").mkdir()
    for part, begin in enumerate(range(0, len(rows), 3)):
        parquet.write_table(rows.slice(begin, 3), tmp_path / "out" / "statements" / f"part-{part:05d}.parquet")
    whole.unlink()
    manifest = build_from_parquet(tmp_path / "out", tmp_path / "back.sqlite").manifest
    with open_store(snapshot) as store:
        assert manifest["snapshot_id"] == store.manifest()["snapshot_id"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "is no folder of Parquet tables"),
        (lambda folder: (folder / "manifest.json").write_text("{}"), "format None; this version reads 1"),
        (lambda folder: (folder / "terms.parquet").unlink(), "has no table terms"),
        (lambda folder: (folder / "terms.parquet").write_bytes(b"PAR1 nonsense"), "terms.parquet cannot be read"),
        (
            lambda folder: (folder / "manifest.json").write_bytes(orjson.dumps({"format": 99})),
            "format 99; this version",
        ),
    ],
)
def test_a_damaged_folder_is_told_and_leaves_nothing(snapshot: Path, tmp_path: Path, damage, message: str) -> None:  # type: ignore[no-untyped-def]
    export_parquet(snapshot, tmp_path / "out")
    damage(tmp_path / "out")
    with pytest.raises(SourceError, match=message):
        build_from_parquet(tmp_path / "out", tmp_path / "back.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_only_an_earlier_export_is_replaced(snapshot: Path, tmp_path: Path) -> None:
    export_parquet(snapshot, tmp_path / "out")
    with pytest.raises(ExportError, match="exists; give --force"):
        export_parquet(snapshot, tmp_path / "out")
    export_parquet(snapshot, tmp_path / "out", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ExportError, match="no folder of an earlier export"):
        export_parquet(snapshot, tmp_path / "mine", force=True)
    inside = tmp_path / "out" / "s.sqlite"
    shutil.copy(snapshot, inside)
    with pytest.raises(ExportError, match="would be lost"):
        export_parquet(inside, tmp_path / "out", force=True)
    with pytest.raises(SnapshotError):
        export_parquet(tmp_path / "mine" / "thesis.txt", tmp_path / "new")
    assert not (tmp_path / "new").exists()
