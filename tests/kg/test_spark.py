"""Spark: a cluster gives what one machine gives, to the snapshot's id and the ladders' rows."""

from __future__ import annotations

import bz2
import importlib.util
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from dump_json import entity_json
from store_contract import ALL, PARIS

from kg.building.other_sources import build_from_parquet
from kg.building.snapshot import build
from kg.errors import EngineError, SourceError
from kg.export.parquet import convert_dump_to_parquet, spark_session
from kg.store import open_store

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "granola" / "demo"
pytestmark = [  # one cluster for all of them
    pytest.mark.xdist_group("spark"),
    pytest.mark.thorough("kg/export"),
]
INSTALLED = all(importlib.util.find_spec(name) for name in ("pyspark", "pandas"))
needs_spark = pytest.mark.skipif(
    not INSTALLED or not shutil.which("java"),
    reason="Spark's tests need pip install -e '.[spark]' and Java 17 or newer",
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two executors of their own, with all that passes between them serialised."""
    with spark_session("local-cluster[2,1,1024]"):
        yield


def line(entity: object) -> bytes:
    return orjson.dumps(entity) + b",\n"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("dumps")
    entities = [entity_json(entity) for entity in ALL]
    old = entity_json(PARIS) | {"labels": {"en": {"language": "en", "value": "Lutetia"}}, "claims": {}}
    merged = entities[0] | {"redirects": {"from": "Q77", "to": "Q90"}}
    first = [line(old), b'{"id": "Q5", "labels"\n', *map(line, entities[1:4]), b'{"id": "L1", "type": "lexeme"},\n']
    second = [line(merged), b'{"id": "Q6", "labels": {"en": {"language": "en", "value": "\xff"}}}\n', b"\n"]
    second += map(line, entities[4:])
    (folder / "one.json").write_bytes(b"[\n" + b"".join(first) + b"]\n")
    (folder / "two.json.bz2").write_bytes(bz2.compress(b"[\n") + bz2.compress(b"".join(second)) + bz2.compress(b"]\n"))
    return [folder / "one.json", folder / "two.json.bz2"]


@needs_spark
@pytest.mark.parametrize("languages", [["de"], None])
def test_a_dump_decoded_on_a_cluster_is_the_same_snapshot(
    cluster: None, dumps: list[Path], tmp_path: Path, languages: list[str] | None
) -> None:
    """The id is a hash of every statement, term, redirect and count."""
    here = build(dumps, tmp_path / "here.sqlite", languages=languages)
    report = convert_dump_to_parquet(dumps, tmp_path / "tables", languages=languages, partitions=3)
    there = build_from_parquet(tmp_path / "tables", tmp_path / "there.sqlite").manifest
    assert there["snapshot_id"] == here.manifest["snapshot_id"]
    for key in ("counts", "rejects", "duplicates", "languages", "source_entities"):
        assert there[key] == here.manifest[key], key
    assert report.duplicates == here.manifest["duplicates"] > 0
    assert report.rejects == here.rejects
    assert report.rejects_path is not None
    listed = [orjson.loads(text) for text in report.rejects_path.read_bytes().splitlines()]
    assert Counter(one["reason"] for one in listed) == here.rejects
    assert {one["source"] for one in listed} <= {path.name for path in dumps}
    with open_store(tmp_path / "here.sqlite") as one, open_store(tmp_path / "there.sqlite") as other:
        ids = list(one.ids())
        assert list(other.ids()) == ids
        assert one.entities(ids) == other.entities(ids)
        for prop in ("P31", "P279", "P131", "P17"):
            assert one.values_of(prop) == other.values_of(prop)
    assert len(list((tmp_path / "tables" / "entities").iterdir())) <= 3
    assert not list((tmp_path / "tables").glob(".*"))


@needs_spark
def test_ladders_made_on_a_cluster_are_the_same_rows(cluster: None, tmp_path: Path) -> None:
    from abstraction.base.faults import RejectedRow
    from abstraction.datasets import spark_tiers
    from abstraction.files.rows import read_questions
    from abstraction.maker.pipeline import make_ladders
    from kg.store import open_store

    snapshot = tmp_path / "demo.sqlite"
    build([DEMO / "wikidata.json"], snapshot)
    questions = list(read_questions([DEMO / "questions.jsonl"]))
    with open_store(snapshot) as store:
        here = list(make_ladders(questions, store))
    many = [row for _ in range(4) for row in questions]  # more than one task
    assert len(many) > spark_tiers._LEAST_QUESTIONS
    bad = replace(
        many[3], id="bad", answers=("\ud800",), answer_qids=(None,), source="qa:9"
    )  # what no store can be asked
    told: list[RejectedRow] = []
    made = spark_tiers.ladders_on_spark([*many[:3], bad, *many[3:]], str(snapshot), on_reject=told.append)
    assert list(made) == here * 4
    assert [(one.source, one.id) for one in told] == [("qa:9", "bad")]


@needs_spark
def test_what_spark_gives_up_is_told_and_leaves_nothing(cluster: None, dumps: list[Path], tmp_path: Path) -> None:
    data = dumps[1].read_bytes()
    (tmp_path / "cut.json.bz2").write_bytes(data[: len(data) // 2])
    with pytest.raises(EngineError, match=r"Spark gave up decoding the dump: .+"):
        convert_dump_to_parquet([tmp_path / "cut.json.bz2"], tmp_path / "tables")
    (tmp_path / "empty.json").write_text("[\n]\n")
    with pytest.raises(SourceError, match="no item or property"):
        convert_dump_to_parquet([tmp_path / "empty.json"], tmp_path / "tables")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.json.bz2", "empty.json"]


@pytest.mark.skipif(INSTALLED, reason="Spark is installed")
def test_without_spark_the_install_line_is_told(dumps: list[Path], tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"pip install -e '.\[spark\]'"):
        convert_dump_to_parquet(dumps, tmp_path / "tables")
