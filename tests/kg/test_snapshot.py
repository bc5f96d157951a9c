"""Building snapshots: what is kept of which sources, and how it is counted."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from dump_json import entity_json, lines
from springfield import WORLD, entity, ids_of
from store_contract import ALL, as_read

from kg.base.model import Entity, Rank
from kg.base.scope import Scope
from kg.building.snapshot import Progress, build
from kg.errors import SelectionError, SourceError
from kg.store import open_store
from tests.conftest import WHOLE_ENTITIES, needs_whole_entities


def test_everything(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.snapshot"
    report = build([dump], out, command="granola snapshot build x", software="granola 0")
    with open_store(out) as store:
        assert store.entities([one.id for one in WORLD]) == {one.id: as_read(one) for one in WORLD}
        manifest = dict(store.manifest())
    assert manifest == report.manifest
    assert report.rejects == {}
    assert report.rejects_path is None
    del manifest["created"], manifest["snapshot_id"]
    assert manifest == {
        "software": "granola 0",
        "command": "granola snapshot build x",
        "sources": [
            {
                "name": "world.json.gz",
                "size": dump.stat().st_size,
                "modified": manifest["sources"][0]["modified"],
                "sha256": hashlib.sha256(dump.read_bytes()).hexdigest(),
            }
        ],
        "selection": {"everything": True},
        "languages": None,
        "limit": None,
        "source_entities": 13,
        "duplicates": 0,
        "warnings": [],
        "rejects": {},
        "schema_version": 1,
        "counts": {
            "entities": 13,
            "items": 12,
            "properties": 1,
            "statements": 17,
            "preferred": 0,
            "normal": 16,
            "deprecated": 1,
            "qualified_statements": 0,
            "qualifiers": 0,
            "labels": 13,
            "aliases": 0,
            "descriptions": 0,
            "redirects": 0,
        },
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.snapshot", "world.json.gz"]


def test_duplicates_the_last_wins(tmp_path: Path) -> None:
    source, out = tmp_path / "dump.json", tmp_path / "out"
    first, last = entity("Q1", "old", ("P31", "Q2")), entity("Q1", "new", ("P31", "Q3"), ("P17", "Q2"))
    others = [entity("Q2", "x"), entity("Q3", "y"), entity("Q4", "z", ("P31", "Q2"))]
    source.write_bytes(lines(first, *others, others[2], last))
    report = build([source], out)
    assert (report.manifest["duplicates"], report.manifest["source_entities"]) == (2, 4)
    with open_store(out) as store:
        assert store.entities(["Q1"])["Q1"].labels == {"en": "new"}
        assert store.value_counts([("P31", "Q2"), ("P31", "Q3")]) == {("P31", "Q2"): 1, ("P31", "Q3"): 1}
    build([source], out, scope=Scope(names=frozenset({"old", "x"})), force=True)
    with open_store(out) as store:  # selected by its earlier name, and as it was then; Q4 counts once
        assert store.entities(["Q1"])["Q1"].labels == {"en": "old"}
        assert store.value_counts([("P31", "Q2")]) == {("P31", "Q2"): 2}


def test_several_sources_and_the_order_of_lines_make_no_difference(tmp_path: Path) -> None:
    whole, one, two = tmp_path / "whole.json", tmp_path / "one.ndjson", tmp_path / "two.json.gz"
    whole.write_bytes(lines(*ALL))
    one.write_bytes(b"\n".join(orjson.dumps(entity_json(item)) for item in ALL[4:]))
    two.write_bytes(gzip.compress(lines(*ALL[:4])))
    reports = [build([whole], tmp_path / "a"), build([one, two], tmp_path / "b"), build([whole], tmp_path / "c")]
    assert len({report.manifest["snapshot_id"] for report in reports}) == 1


def test_languages_bring_their_fallbacks(tmp_path: Path) -> None:
    source = tmp_path / "dump.json"
    labels = {code: code for code in ("de-at", "de", "mul", "en", "fr")}
    source.write_bytes(lines(Entity(id="Q1", labels=labels, aliases={"fr": ("x",), "de": ("y",)})))
    report = build([source], tmp_path / "out", languages=["de-at"])
    assert report.manifest["languages"] == ["de", "de-at", "en", "mul"]
    with open_store(tmp_path / "out") as store:
        found = store.entities(["Q1"])["Q1"]
    assert set(found.labels) == {"de-at", "de", "mul", "en"}
    assert found.aliases == {"de": ("y",)}


def test_a_limit(dump: Path, tmp_path: Path) -> None:
    report = build([dump], tmp_path / "out", limit=3)
    assert ids_of(tmp_path / "out") == ["Q1", "Q2", "Q3"]
    assert (report.manifest["limit"], report.manifest["source_entities"]) == (3, 3)
    with pytest.raises(SelectionError, match="limit"):
        build([dump], tmp_path / "none", limit=0)


def test_a_named_pipe_even_where_it_is_read_twice(dump: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(dump), str(pipe)]):
        report = build([pipe], tmp_path / "out", scope=Scope(classes=frozenset({"Q24"})))
    assert report.manifest["sources"][0]["name"] == "pipe"
    assert ids_of(tmp_path / "out") == ["Q1", "Q4", "Q5", "P131"]


def test_a_language_that_nothing_is_in(dump: Path, tmp_path: Path) -> None:
    (warning,) = build([dump], tmp_path / "out", languages=["english", "en"]).manifest["warnings"]
    assert "'english'" in warning


@pytest.mark.parametrize("scope", [Scope(), Scope(classes=frozenset({"Q24"}))])
def test_standard_input_even_where_it_is_read_twice(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: Scope
) -> None:
    build([dump], tmp_path / "a", scope=scope)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(dump.read_bytes())))
    report = build(["-"], tmp_path / "b", scope=scope)
    assert ids_of(tmp_path / "a") == ids_of(tmp_path / "b")
    (source,) = report.manifest["sources"]
    assert source["name"] == "stdin"
    assert source["sha256"] == hashlib.sha256(dump.read_bytes()).hexdigest()
    with pytest.raises(SourceError, match="once only"):
        build(["-", "-"], tmp_path / "c", scope=scope)


def test_redirects_of_api_answers(tmp_path: Path) -> None:
    source = tmp_path / "answer.json"
    target = {**entity_json(WORLD[0]), "redirects": {"from": "Q77", "to": "Q1"}}
    missing = {"id": "Q78", "missing": ""}
    source.write_bytes(orjson.dumps({"entities": {"Q77": target, "Q78": missing}, "success": 1}))
    assert build([source], tmp_path / "out").rejects == {"missing": 1}
    with open_store(tmp_path / "out") as store:
        assert store.entities(["Q77"]) == {"Q77": as_read(WORLD[0])}


def test_progress_goes_up_to_the_whole(dump: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    build([dump], tmp_path / "out", scope=Scope(classes=frozenset({"Q24"})), progress=told.append)
    assert [one.phase for one in told] == ["surveying", "reading"]
    assert all(one.bytes_read == one.bytes_total == dump.stat().st_size for one in told)
    assert [one.entities for one in told] == [13, 13]


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """The fixture, read in the plainest way there is."""
    for line in gzip.decompress(path.read_bytes()).splitlines():
        if line.strip().rstrip(b","):
            text = line.strip().rstrip(b",")
            if text not in (b"[", b"]"):
                yield orjson.loads(text)


@needs_whole_entities
def test_whole_entities_lose_nothing(tmp_path: Path) -> None:
    folder = WHOLE_ENTITIES.parent
    sources = [WHOLE_ENTITIES, folder / "lexeme_L3354.json", folder / "property_P279.json.gz"]
    report = build(sources, tmp_path / "out")
    assert report.rejects == {"lexeme": 1}
    given = [*objects(WHOLE_ENTITIES), orjson.loads(gzip.decompress(sources[2].read_bytes()))]
    claims = [one for item in given for group in item["claims"].values() for one in group]
    counts = report.manifest["counts"]
    assert (counts["items"], counts["properties"], counts["statements"]) == (49, 1, len(claims))
    for rank in Rank:
        assert counts[rank] == sum(one["rank"] == rank for one in claims)
    assert counts["qualifiers"] == sum(len(g) for c in claims for g in (c.get("qualifiers") or {}).values())
    for kind in ("labels", "descriptions"):
        assert counts[kind] == sum(len(item[kind]) for item in given)
    assert counts["aliases"] == sum(len(texts) for item in given for texts in (item["aliases"] or {}).values())
    with open_store(tmp_path / "out") as store:
        found = store.entities([item["id"] for item in given])
    assert {s.id for one in found.values() for s in one.statements} == {one["id"] for one in claims}
    assert {i: one.sitelinks for i, one in found.items()} == {
        item["id"]: len(item.get("sitelinks") or ()) for item in given
    }
