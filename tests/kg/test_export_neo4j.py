"""Files for Neo4j's import: as text, and put into a real database by the real tool."""

from __future__ import annotations

import csv
import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet
from store_contract import ALL, statement
from test_sqlite_store import fill

from kg.export.neo4j_import import export_neo4j
from kg.model import Entity, Rank, Snak, TextValue, TimeValue
from kg.store import open_store
from kg.store.neo4j import Neo4jStore
from kg.store.neo4j_push import push

SCRIPT = Path(os.environ.get("NEO4J_SCRIPT") or Path(__file__).resolve().parents[3] / "shared" / "neo4j" / "neo4j")

HARD = Entity(
    id="Q1000",
    labels={"en": 'quote " comma, back\\slash;', "de": "", "mul": "two\nlines"},
    aliases={"en": ("it's \\", '""', "\t tab ")},
    descriptions={"en": " spaces "},
    statements=(
        statement("Q1000", "P1", TextValue(text='a "b"\r\n\\n, c', language="en")),
        statement(
            "Q1000",
            "P31",
            "Q515",
            rank=Rank.PREFERRED,
            datatype="wikibase-item",
            qualifiers=(
                Snak(property="P580", value=TimeValue(year=-44, month=3, precision=10)),
                Snak(property="P1", value=TextValue(text='"\n')),
            ),
        ),
    ),
    sitelinks=3,
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("import") / "s.sqlite"
    more = {"other_values": [(31, 515, 7)], "other_properties": [(31, 9)]}
    fill(path, (*ALL, HARD), redirects={"Q77": "Q90"}, **more).close()  # type: ignore[arg-type]
    return path


def rows_of(folder: Path, table: str) -> list[dict[str, str]]:
    (header,) = csv.reader((folder / f"{table}-header.csv").open(newline="", encoding="utf-8"))
    with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as stream:
        return [dict(zip(header, row, strict=True)) for row in csv.reader(stream)]


def test_the_files_hold_the_model(snapshot: Path, tmp_path: Path) -> None:
    report = export_neo4j(snapshot, tmp_path / "out")
    entities = {row["id:ID(Entity)"]: row for row in rows_of(tmp_path / "out", "entities")}
    hard = entities["Q1000"]
    assert hard["label_en"] == 'quote " comma, back\\slash;'
    assert hard["label_mul"] == "two\nlines"
    assert (hard["number:long"], hard["sitelinks:long"]) == ("1000", "3")
    stated = {row["id"]: row for row in rows_of(tmp_path / "out", "relationships")}
    (found,) = (row for row in stated.values() if row[":START_ID(Entity)"] == "Q1000")
    assert (found[":TYPE"], found[":END_ID(Entity)"], found["rank"]) == ("P31", "Q515", "preferred")
    assert (found["start:long"], found["end:long"]) == ("-439700", "")
    assert report.rows["entities"] == len(ALL) + 1
    assert "--multiline-fields=true" in report.command  # for the label of two lines
    # An empty text is there, a missing one is not: only the quotes tell them apart.
    line = next(line for line in (tmp_path / "out" / "entities.csv").read_text().splitlines() if '"Q1000"' in line)
    assert ',"",' in line
    assert ",," in line


def test_the_same_snapshot_gives_the_same_files(snapshot: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_neo4j(snapshot, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").glob("*.csv"))
    assert len(files) == 16
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_parquet_has_the_same_rows(snapshot: Path, tmp_path: Path) -> None:
    text = export_neo4j(snapshot, tmp_path / "csv")
    report = export_neo4j(snapshot, tmp_path / "parquet", format="parquet")
    assert report.rows == text.rows
    assert "--input-type=parquet" in report.command
    entities = parquet.read_table(tmp_path / "parquet" / "entities.parquet").to_pylist()
    assert [row["id:ID(Entity)"] for row in entities] == [
        row["id:ID(Entity)"] for row in rows_of(tmp_path / "csv", "entities")
    ]
    (hard,) = (row for row in entities if row["number"] == 1000)
    assert (hard["label_de"], hard["label_mul"], hard["datatype"]) == ("", "two\nlines", None)
    names = parquet.read_table(tmp_path / "parquet" / "names.parquet").to_pylist()
    assert len({row[":ID(Name)"] for row in names}) == len(names)


@pytest.fixture
def imported(snapshot: Path, tmp_path: Path) -> Iterator[str]:
    if not SCRIPT.is_file() or not shutil.which("java"):
        pytest.skip(f"no Neo4j to import into ({SCRIPT}; NEO4J_SCRIPT names another), or no java")
    command = shlex.split(export_neo4j(snapshot, tmp_path / "out").command)
    home = tmp_path / "home"
    # The script says `import HOME` for `neo4j-admin database import`.
    done = subprocess.run(
        [str(SCRIPT), "import", str(home), *command[3:]], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {**os.environ, "NEO4J_HEAP": "512m", "NEO4J_PAGECACHE": "64m"}
    environment.pop("NEO4J_PASSWORD", None)
    subprocess.run([str(SCRIPT), "start", str(home), port], check=True, capture_output=True, env=environment)
    try:
        yield f"bolt://127.0.0.1:{port}"
    finally:
        subprocess.run([str(SCRIPT), "kill", str(home)], check=False, capture_output=True)


def test_what_the_real_tool_imports_answers_as_the_file_does(
    snapshot: Path, imported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    assert push(snapshot, imported).written == {}  # nothing but indexes and the marker was left to do
    mirror = Neo4jStore.open(imported)
    with open_store(snapshot) as store:
        ids = list(store.ids())
        assert list(mirror.ids()) == ids
        assert mirror.entities([*ids, "Q77"]) == store.entities([*ids, "Q77"])
        names = ["paris", "two lines", "it's \\", '""', "tab"]
        assert mirror.find(names) == store.find(names)
        assert mirror.value_counts([("P31", "Q515")]) == store.value_counts([("P31", "Q515")])
        assert mirror.values_of("P31") == store.values_of("P31")
        assert mirror.property_counts(["P31", "P17"]) == store.property_counts(["P31", "P17"])
        assert mirror.referrers([("P31", "Q515")]) == store.referrers([("P31", "Q515")])
        assert mirror.manifest() == store.manifest()
    mirror.close()
