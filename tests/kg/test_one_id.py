"""One content, one id, one set of ladders, whichever source it came from."""

from __future__ import annotations

import gzip
import importlib.util
import random
import shutil
from pathlib import Path

import orjson
import pytest
import sparql_server
import wikidata_api
from every_kind import QUICK

from kg.base.scope import Scope
from kg.building.other_sources import build_from_api, build_from_parquet, build_from_rdf, build_from_sparql
from kg.building.snapshot import build
from kg.export.parquet import convert_dump_to_parquet, export_parquet
from kg.export.rdf_writer import export_rdf
from tests.conftest import WHOLE_ENTITIES, Run, needs_whole_entities
from tests.thorough import thorough_only

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"
has_spark = all(importlib.util.find_spec(name) for name in ("pyspark", "pandas")) and shutil.which("java")


def id_of(path: Path) -> str:
    from kg.store import open_store

    with open_store(path) as store:
        return str(store.manifest()["snapshot_id"])


def shuffled(path: Path) -> Path:
    triples = path.read_bytes().splitlines(keepends=True)
    random.Random(2).shuffle(triples)
    path.write_bytes(b"".join(triples))
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "dump"
    build([WHOLE_ENTITIES], out)
    return out


@needs_whole_entities
def test_whole_entities_by_parquet(whole: Path, tmp_path: Path) -> None:
    export_parquet(whole, tmp_path / "tables")
    build_from_parquet(tmp_path / "tables", tmp_path / "out")
    assert id_of(tmp_path / "out") == id_of(whole)


@needs_whole_entities
@pytest.mark.usefixtures("contact")
def test_whole_entities_by_the_api(whole: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(WHOLE_ENTITIES.read_bytes()).splitlines()
    data = {one["id"]: one for line in lines if len(line) > 2 for one in [orjson.loads(line.rstrip(b","))]}
    with wikidata_api.serving(data) as server:
        scope = Scope(ids=frozenset(data))
        build_from_api(tmp_path / "out", scope=scope, url=server.url, patience=QUICK)
    assert id_of(tmp_path / "out") == id_of(whole)


@needs_whole_entities
@thorough_only
@pytest.mark.skipif(not has_spark, reason="needs pyspark and Java")
@pytest.mark.xdist_group("spark")
def test_whole_entities_by_spark(whole: Path, tmp_path: Path) -> None:
    convert_dump_to_parquet([WHOLE_ENTITIES], tmp_path / "tables", master="local[2]")
    build_from_parquet(tmp_path / "tables", tmp_path / "out")
    assert id_of(tmp_path / "out") == id_of(whole)


@thorough_only
@pytest.mark.usefixtures("contact")
def test_ladders_are_the_same_bytes_from_every_source(run: Run, tmp_path: Path) -> None:
    dump = DEMO / "wikidata.json"
    data = {one["id"]: one for one in orjson.loads(dump.read_bytes())}
    scope = Scope(ids=frozenset(data))
    build([dump], tmp_path / "dump")
    export_rdf(tmp_path / "dump", tmp_path / "demo.nt")
    export_parquet(tmp_path / "dump", tmp_path / "tables")
    build_from_parquet(tmp_path / "tables", tmp_path / "parquet")
    build_from_rdf([shuffled(tmp_path / "demo.nt")], tmp_path / "rdf")
    with wikidata_api.serving(data) as server:
        build_from_api(tmp_path / "api", scope=scope, url=server.url, patience=QUICK)
    with sparql_server.serving(tmp_path / "demo.nt") as endpoint:
        build_from_sparql(endpoint.url, tmp_path / "sparql", scope=scope, patience=QUICK)
    ladders: dict[bytes, list[str]] = {}
    for source in ("dump", "parquet", "rdf", "api", "sparql"):
        assert id_of(tmp_path / source) == id_of(tmp_path / "dump"), source
        out = tmp_path / f"{source}.jsonl"
        run("tiers", DEMO / "questions.jsonl", "--snapshot", tmp_path / source, "--out", out)
        ladders.setdefault(out.read_bytes(), []).append(source)
    # Of what services gave nobody knows how frequent an occupation is elsewhere, so that all are taken for used.
    assert list(ladders.values()) == [["dump", "parquet", "rdf"], ["api", "sparql"]]
