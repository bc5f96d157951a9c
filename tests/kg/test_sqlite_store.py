"""The SQLite store: the contract, in memory and on disk, and what is its own."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from store_contract import ALL, PARIS, StoreContract, as_read

from kg.base.model import Entity
from kg.errors import DamagedSnapshotError, SnapshotError
from kg.store import filling, open_store, schema
from kg.store.sqlite import SQLiteStore
from tests.thorough import thorough_only


def fill(
    path: Path | str,
    entities: Iterable[Entity],
    *,
    redirects: Mapping[str, str] | None = None,
    other_values: Iterable[tuple[int, int, int]] = (),
    other_properties: Iterable[tuple[int, int]] = (),
) -> SQLiteStore:
    return SQLiteStore.create(
        path, entities, redirects=redirects, other_values=other_values, other_properties=other_properties
    )


class TestInMemory(StoreContract):
    @pytest.fixture
    def make_store(self) -> Callable[..., SQLiteStore]:
        return lambda entities, **more: fill(":memory:", entities, **more)


class TestOnDisk(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> Iterator[Callable[..., SQLiteStore]]:
        made: list[SQLiteStore] = []

        def make(entities: Iterable[Entity], **more: object) -> SQLiteStore:
            path = tmp_path / f"{len(made)} #?%.snapshot"  # a name that a URI must quote
            fill(path, entities, **more).close()  # type: ignore[arg-type]
            made.append(open_store(path))
            return made[-1]

        yield make
        for store in made:
            store.close()


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "all.snapshot"
    fill(path, ALL).close()
    return path


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_store(tmp_path / "none")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="is a folder"):
        open_store(tmp_path)


@pytest.mark.parametrize(
    ("content", "what"), [(b"", "empty"), (b"{}\n" * 99, "no SQLite file"), (b"SQLite", "no SQLite")]
)
def test_what_is_no_database(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(SnapshotError, match=what):
        open_store(path)


def test_a_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entity (id)")
    with pytest.raises(SnapshotError, match="another program"):
        open_store(path)


def test_another_schema_version(snapshot: Path) -> None:
    with sqlite3.connect(snapshot) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(SnapshotError, match=f"schema version 99; this version.* reads {schema.SCHEMA_VERSION}"):
        open_store(snapshot)


def test_a_truncated_file(snapshot: Path) -> None:
    os.truncate(snapshot, snapshot.stat().st_size - 4096)
    with pytest.raises(DamagedSnapshotError, match="truncated"):
        open_store(snapshot)


def test_an_unfinished_file(tmp_path: Path) -> None:
    path = tmp_path / "unfinished"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        filling.create_tables(connection)
        filling.write_entities(connection, ALL)
        connection.execute("COMMIT")
    with pytest.raises(DamagedSnapshotError, match="unfinished"):
        open_store(path)


def test_a_damaged_page_is_the_snapshots_error(snapshot: Path) -> None:
    content = bytearray(snapshot.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    snapshot.write_bytes(content)
    with pytest.raises(DamagedSnapshotError), open_store(snapshot) as store:
        store.entities(["Q90"])


def test_creating_over_a_file(snapshot: Path) -> None:
    with pytest.raises(SnapshotError, match="exists already"):
        SQLiteStore.create(snapshot, ALL)


def test_a_reader_keeps_what_it_opened(snapshot: Path, tmp_path: Path) -> None:
    with open_store(snapshot) as store:
        fill(tmp_path / "other", []).close()
        (tmp_path / "other").replace(snapshot)
        assert store.entities(["Q90"]) == {"Q90": as_read(PARIS)}


def test_reading_changes_nothing(snapshot: Path) -> None:
    before = (snapshot.read_bytes(), sorted(snapshot.parent.iterdir()))
    snapshot.chmod(0o400)
    with open_store(snapshot) as store:
        store.find(["Paris"])
    assert (snapshot.read_bytes(), sorted(snapshot.parent.iterdir())) == before


@thorough_only
def test_batches_beyond_every_limit_of_the_database() -> None:
    entities = [Entity(id=f"Q{n}", labels={"en": f"name {n}"}) for n in range(1, 45_001)]
    with fill(":memory:", entities) as store:
        found = store.entities([entity.id for entity in entities])
        assert found == {entity.id: entity for entity in entities}
        names = store.find([f"NAME {n}" for n in range(1, 45_001)])
        assert [matches[0].id for matches in names.values()] == list(found)
        assert sum(1 for _ in store.ids()) == 45_000


def test_only_items_and_properties_are_held() -> None:
    with pytest.raises(SnapshotError, match="'L1' is no item or property"):
        SQLiteStore.create(":memory:", [Entity(id="L1")])


def test_the_header_is_where_the_format_says(snapshot: Path) -> None:
    header = snapshot.read_bytes()[:100]
    assert struct.unpack(">I", header[68:72])[0] == schema.APPLICATION_ID
    assert struct.unpack(">I", header[60:64])[0] == schema.SCHEMA_VERSION


def test_every_code_has_a_name(snapshot: Path) -> None:
    with sqlite3.connect(snapshot) as connection:
        unnamed = connection.execute(
            "SELECT count(*) FROM statement"
            " LEFT JOIN code AS r ON r.domain = 'rank' AND r.code = rank"
            " LEFT JOIN code AS t ON t.domain = 'type' AND t.code = type"
            " WHERE r.name IS NULL OR t.name IS NULL"
        ).fetchone()
    assert unnamed == (0,)


def test_opening_loads_no_heavy_library() -> None:
    code = (
        "import sys, kg, kg.store; assert 'sqlite3' not in sys.modules; import kg.store.sqlite, kg.building.snapshot;"
        "heavy = {'networkx', 'rdflib', 'neo4j', 'requests', 'pydantic', 'rich'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
