"""Selections by questions: what making their ladders asks for belongs to them, so that the ladders are those of all."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from abstraction.datasets.ladder_lookups import record_ladder_lookups, relations_asked_for
from abstraction.files.rows import read_questions
from abstraction.maker.pipeline import make_ladders
from granola.commands import SnapshotBuild
from granola.shortcuts import bundled
from kg.base.scope import Scope
from kg.building.snapshot import build
from kg.store import open_store
from tests.conftest import Run


@pytest.fixture(scope="module")
def qa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("qa") / "qa.jsonl"
    rows = [
        {"id": "a", "question": "Where was Barack Obama born?", "answer": ["Honolulu"]},
        {"id": "b", "question": "Where is Honolulu located?", "answer": ["Hawaii"]},
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def ladders(qa: Path, snapshot: Path) -> list[Any]:
    with closing(open_store(snapshot)) as store:
        made = make_ladders(read_questions([qa]), store)
        return [[level.names() for level in row.levels] for row in made]


def test_what_ladders_ask_for_is_noted(qa: Path, tmp_path: Path) -> None:
    build([bundled("wikidata")], tmp_path / "s", scope=Scope(names=frozenset({"Honolulu", "Barack Obama"})))
    rows = list(read_questions([qa]))
    with closing(open_store(tmp_path / "s")) as store:
        asked = record_ladder_lookups(rows, store)
    assert {"Honolulu", "Hawaii"} <= asked.names
    assert all(one[0] in "QP" and one[1:].isdigit() for one in asked.missing_ids)
    assert relations_asked_for(rows) == {"P19"}  # "Where is" may ask for several


def test_the_most_frequent_values_of_the_whole_source_are_told(tmp_path: Path) -> None:
    whole = build([bundled("wikidata")], tmp_path / "all", frequent_of=["P17", "P31"])
    piece = build(
        [bundled("wikidata")], tmp_path / "piece", scope=Scope(ids=frozenset({"Q18094"})), frequent_of=["P17", "P31"]
    )
    assert piece.frequent == whole.frequent
    with closing(open_store(tmp_path / "all")) as store:
        there = [qid for qid, _ in store.values_of("P17", limit=5)]
    assert [one for one in whole.frequent["P17"] if one in there][:5] == there


def test_a_selection_by_questions_makes_the_ladders_of_all(qa: Path, tmp_path: Path) -> None:
    build([bundled("wikidata")], tmp_path / "all")
    run = SnapshotBuild(sources=(str(bundled("wikidata")),), qa=(qa,), hops=6, out=tmp_path / "piece")
    report = run.run().report  # type: ignore[union-attr]
    assert report.manifest["counts"]["entities"] < 2_000
    assert ladders(qa, tmp_path / "piece") == ladders(qa, tmp_path / "all")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "piece"]
    assert report.manifest["selection"]["also"]["count"] > 0
    assert report.manifest["warnings"] == []


def test_without_it_one_reading_is_enough(qa: Path, tmp_path: Path, run: Run) -> None:
    options = ("--qa", qa, "--hops", "6", "--no-complete", "--out", tmp_path / "piece")
    code, _, stderr = run("snapshot", "build", bundled("wikidata"), *options)
    assert (code, "rejected" in stderr) == (0, False)
    with closing(open_store(tmp_path / "piece")) as store:
        manifest = store.manifest()
    assert "also" not in manifest["selection"]
    assert "--no-complete" in manifest["command"]
