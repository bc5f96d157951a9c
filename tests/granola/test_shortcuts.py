"""Ladders, verdicts and scores in a few lines: over files, rows and DataFrames, with the results of the commands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import granola
from abstraction.errors import RowError
from abstraction.rows import read_tiered, write_tiered
from granola import scoring
from granola.errors import MatcherError, PredictionError, UsageError
from granola.runs.demo_run import bundled

QUESTION = "Where was Barack Obama born?"
ROWS = [
    {"id": "a", "question": QUESTION, "answer": "Honolulu"},
    {"id": "b", "question": "In which city was Albert Einstein born?", "answer": "Ulm"},
]


@pytest.fixture(scope="module")
def sample() -> Iterator[Any]:
    with closing(granola.snapshot()) as store:
        yield store


def test_the_bundled_sample_needs_no_file(sample: Any) -> None:
    assert sample.manifest()["counts"]["entities"] > 500
    assert sample.entities(["Q76"])["Q76"].labels["en"] == "Barack Obama"


def test_a_ladder_and_a_verdict(sample: Any) -> None:
    row = granola.ladder(QUESTION, "Honolulu", sample)
    assert [level.names()[0] for level in row.levels][-2:] == ["Hawaii", "United States"]
    assert (row.relation, row.question_entity) == ("P19", {"text": "Barack Obama", "qid": "Q76"})
    assert granola.match("somewhere in Hawaii", row).level == len(row.levels) - 1
    assert granola.match("Hawaii", [["Honolulu"], ["Hawaii"]], matcher="em").level == 2
    assert granola.match("In Frankreich", [["Lyon"], ["Frankreich"]], language="de").level == 2


def test_several_gold_answers_and_what_is_asked_about(sample: Any) -> None:
    row = granola.ladder("Where was he born?", ["Honolulu"], sample, relation="P19", subject="Barack Obama")
    assert row.levels[0].tiers[0].qid == "Q18094"
    alone = granola.ladder("Where was he born?", "Nowhere at all", sample, relation="P19")
    assert (len(alone.levels), alone.abstained) == (1, "no-link")


def test_many_are_as_the_command_makes_them(sample: Any, tmp_path: Path) -> None:
    from granola.runs import DemoRun

    DemoRun(out=tmp_path / "demo").run()
    made = granola.ladders(bundled("questions"), sample)
    told = list(read_tiered(tmp_path / "demo" / "tiers.jsonl"))
    assert [row.to_json() for row in made] == [row.to_json() for row in told]
    by_path = granola.ladders(ROWS, tmp_path / "demo" / "snapshot.sqlite")
    assert [row.to_json() for row in by_path] == [row.to_json() for row in granola.ladders(ROWS, sample)]
    given: Any = bundled("predictions-cautious")
    known = scoring.score(told, granola.read_predictions(given), granola.matcher("rules"), times=20)
    for rows in (tmp_path / "demo" / "tiers.jsonl", made, [row.to_json() for row in made]):
        report = granola.score(rows, given, times=20)
        assert report.overall.n == len(made)
        assert report.overall.estimates["granola_accuracy"] == known.overall.estimates["granola_accuracy"]
        given = granola.read_predictions(bundled("predictions-cautious"))


def test_predictions_in_any_form(sample: Any) -> None:
    rows = granola.ladders(ROWS, sample)
    texts = {"a": "Hawaii", "b": "Berlin"}
    forms: list[Any] = [texts, [{"id": id, "prediction": text} for id, text in texts.items()]]
    for predictions in forms:
        for matcher in ("rules", granola.matcher("rules")):
            report = granola.score(rows, predictions, matcher, times=20)
            assert report.overall.estimates["granola_accuracy"].value == 0.5
    assert granola.score(rows, {"a": "Hawaii"}, times=20, allow_missing=True).overall.unscored == 1


def test_frames_in_and_out(sample: Any) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(ROWS, index=[7, 9]).assign(note=["x", None], relation=[None, "P19"])
    made = granola.ladders(frame, sample)
    assert list(made.index) == [7, 9]
    assert list(made.columns) == [*frame.columns, "ladder", "levels", "abstained"]
    assert made.loc[7, "ladder"].startswith("Honolulu › ")
    assert "ladder" not in frame  # it is as it was
    given = pandas.DataFrame({"id": ["a", "b"], "prediction": ["Hawaii", "Berlin"]})
    assert granola.score(made, given, times=20).overall.estimates["granola_accuracy"].value == 0.5
    unnamed = granola.ladders(frame.drop(columns="id"), sample)
    assert list(unnamed["id"]) == ["row-1", "P19-2"]


def test_what_cannot_be_used_is_told_with_its_place(sample: Any, tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"question 2: .*answer"):
        granola.ladders([ROWS[0], {"id": "c", "question": "Where?"}], sample)
    with pytest.raises(UsageError, match="question 1 is a str; expected a mapping"):
        granola.ladders(["Where?"], sample)
    with pytest.raises(RowError):
        granola.ladder(" ", "Honolulu", sample)
    with pytest.raises(PredictionError, match="b"):
        granola.score(granola.ladders(ROWS, sample), {"a": "Hawaii"})
    with pytest.raises(MatcherError, match="rule"):
        granola.match("Hawaii", [["Hawaii"]], matcher="rule")
    with pytest.raises(FileNotFoundError):
        granola.snapshot(tmp_path / "none.sqlite")


def test_importing_granola_loads_nothing() -> None:
    code = "import sys, granola; print([m for m in sys.modules if m.startswith(('granola.', 'abstraction', 'pandas'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rows_in_memory_have_the_signature_of_their_file(tmp_path: Path) -> None:
    questions, said = bundled("questions"), bundled("predictions-cautious")
    rows = granola.ladders(str(questions), granola.snapshot())
    write_tiered(iter(rows), tmp_path / "tiers.jsonl")
    kept, read = (granola.score(given, str(said)) for given in (rows, str(tmp_path / "tiers.jsonl")))
    assert kept.signature == read.signature
    assert kept.overall == read.overall
