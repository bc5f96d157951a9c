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
from abstraction.files.rows import read_tiered, write_tiered
from granola.errors import MatcherError, PredictionError, UsageError
from granola.scoring.scores import ScoreSettings, score
from granola.shortcuts import bundled

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


def test_numbers_beside_a_missing_one_are_as_in_the_file(sample: Any, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    (tmp_path / "q.csv").write_text("id,question,answer\n1,How many?,350964\n2,How tall?,2.5\n,Where?,\n4,When?,1961\n")
    (tmp_path / "p.csv").write_text("id,prediction\n1,350964\n4,1961\n2,\n")
    read = pandas.read_csv(tmp_path / "q.csv")
    assert str(read["answer"].dtype) == str(read["id"].dtype) == "float64"
    with pytest.raises(RowError, match="question 3: no answer"):
        granola.ladders(read, sample)
    for frame in (read.dropna(), read.convert_dtypes().dropna()):
        made = granola.ladders(frame.rename(columns={"answer": "gold"}), sample, answer_field="gold")
        assert list(made["answer"]) == [["350964"], ["2.5"], ["1961"]]
        assert list(made["id"]) == ["1", "2", "4"]
        given = pandas.read_csv(tmp_path / "p.csv")
        report = granola.score(granola.ladders(frame, sample), given, allow_missing=True, resamples=20)
        assert (report.overall.n, report.overall.unscored) == (2, 1)
        assert report.overall.estimates["granola_accuracy"].value == 1.0
    rows = granola.ladders(read.dropna().to_dict("records"), sample)
    assert [row.answers for row in rows] == [("350964",), ("2.5",), ("1961",)]
    assert granola.score(rows, {1.0: "350964", 2.0: "2.5", 4.0: "1961"}, resamples=20).overall.unscored == 0


@pytest.mark.parametrize("missing", ["NA", "NaT", "NaN"])
def test_what_pandas_writes_for_nothing_is_no_answer(sample: Any, missing: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    nothing = float("nan") if missing == "NaN" else getattr(pandas, missing)
    row = {"id": "a", "question": QUESTION, "answer": "Honolulu", "relation": nothing, "note": nothing}
    (made,) = granola.ladders([row], sample)
    assert (made.relation, "note" in made.extra) == ("P19", False)
    with pytest.raises(RowError, match="no answer"):
        granola.ladders(pandas.DataFrame([{**row, "answer": nothing}]), sample)


def test_several_gold_answers_and_what_is_asked_about(sample: Any) -> None:
    row = granola.ladder("Where was he born?", ["Honolulu"], sample, relation="P19", subject="Barack Obama")
    assert row.levels[0].tiers[0].qid == "Q18094"
    alone = granola.ladder("Where was he born?", "Nowhere at all", sample, relation="P19")
    assert (len(alone.levels), alone.abstained) == (1, "no-link")


def test_many_are_as_the_command_makes_them(sample: Any, tmp_path: Path) -> None:
    from granola.commands import Demo

    Demo(out=tmp_path / "demo").run()
    made = granola.ladders(bundled("questions"), sample)
    told = list(read_tiered(tmp_path / "demo" / "tiers.jsonl"))
    assert [row.to_json() for row in made] == [row.to_json() for row in told]
    by_path = granola.ladders(ROWS, tmp_path / "demo" / "snapshot.sqlite")
    assert [row.to_json() for row in by_path] == [row.to_json() for row in granola.ladders(ROWS, sample)]
    given: Any = bundled("predictions-cautious")
    known = score(
        told, granola.read_predictions(given), granola.matcher("rules"), ScoreSettings(resamples=20)
    )
    for rows in (tmp_path / "demo" / "tiers.jsonl", made, [row.to_json() for row in made]):
        report = granola.score(rows, given, resamples=20)
        assert report.overall.n == len(made)
        assert report.overall.estimates["granola_accuracy"] == known.overall.estimates["granola_accuracy"]
        given = granola.read_predictions(bundled("predictions-cautious"))


def test_predictions_in_any_form(sample: Any) -> None:
    rows = granola.ladders(ROWS, sample)
    texts = {"a": "Hawaii", "b": "Berlin"}
    forms: list[Any] = [texts, [{"id": id, "prediction": text} for id, text in texts.items()]]
    for predictions in forms:
        for matcher in ("rules", granola.matcher("rules")):
            report = granola.score(rows, predictions, matcher, resamples=20)
            assert report.overall.estimates["granola_accuracy"].value == 0.5
    assert granola.score(rows, {"a": "Hawaii"}, resamples=20, allow_missing=True).overall.unscored == 1


def test_frames_in_and_out(sample: Any) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(ROWS, index=[7, 9]).assign(note=["x", None], relation=[None, "P19"])
    made = granola.ladders(frame, sample)
    assert list(made.index) == [7, 9]
    assert list(made.columns) == [*frame.columns, "ladder", "levels", "abstained"]
    assert made.loc[7, "ladder"].startswith("Honolulu › ")
    assert "ladder" not in frame  # it is as it was
    given = pandas.DataFrame({"id": ["a", "b"], "prediction": ["Hawaii", "Berlin"]})
    assert granola.score(made, given, resamples=20).overall.estimates["granola_accuracy"].value == 0.5
    unnamed = granola.ladders(frame.drop(columns="id"), sample)
    assert list(unnamed["id"]) == ["row-1", "P19-2"]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(sample: Any, library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    frame = module.DataFrame(columns) if library == "polars" else module.table(columns)
    made = granola.ladders(frame, sample)
    assert type(made) is type(frame)
    said = module.DataFrame({"id": ["a", "b"], "prediction": ["Hawaii", "Berlin"]}) if library == "polars" else None
    report = granola.score(made, {"a": "Hawaii", "b": "Berlin"} if said is None else said, resamples=20)
    assert report.overall.estimates["granola_accuracy"].value == 0.5
    assert "snapshot:unknown" not in str(report.signature)
    levels = made["levels"][0] if library == "polars" else made["levels"][0].as_py()
    assert granola.match("in Hawaii", levels).level == 3
    if library == "polars":
        with pytest.raises(UsageError, match=r"a LazyFrame has no rows yet; .* frame.collect"):
            granola.ladders(frame.lazy(), sample)


def test_bad_rows_are_collected_where_this_is_asked(sample: Any) -> None:
    rows = [ROWS[0], {"id": "c", "question": "Where?", "answer": None}, ROWS[1]]
    made = granola.ladders(rows, sample, errors="collect")
    assert [row.id for row in made] == ["a", "b"]
    (rejected,) = made.rejected
    assert (rejected.source, rejected.reason[:9]) == ("question 2", "no answer")
    with pytest.raises(UsageError, match="errors is 'skip'; allowed: raise, collect"):
        granola.ladders(rows, sample, errors="skip")  # type: ignore[call-overload]
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = granola.ladders(pandas.DataFrame(rows), sample, errors="collect")
    assert list(frame["id"]) == ["a", "c", "b"]
    assert frame["rejected"][1] == "no answer: it is empty; expected a text or a list of texts"
    assert list(frame["levels"].isna()) == [False, True, False]
    assert granola.score(frame, {"a": "Hawaii", "b": "Ulm"}, resamples=20).overall.n == 2
    table = made.to_pandas()
    assert list(table["id"]) == ["a", "b"]
    assert granola.score(table, {"a": "Hawaii", "b": "Ulm"}, resamples=20).overall.n == 2


def test_a_notebook_shows_ladders_and_scores(sample: Any) -> None:
    made = granola.ladders([{**ROWS[0], "question": "Where was <Barack Obama> born?"}, ROWS[1]], sample)
    assert made[1].levels[-1].names()[0] in made[1]._repr_html_()
    assert "&lt;Barack Obama&gt;" in made._repr_html_()
    report = granola.score(made, {"a": "Hawaii", "b": "Ulm"}, resamples=20, system="<mine>")
    assert "<th>GRANOLA accuracy</th>" in report._repr_html_()
    assert "&lt;mine&gt;" in report._repr_html_()
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert report.to_pandas().loc["coverage", "value"] == 1


def test_lists_as_parquet_gives_them(sample: Any, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    given = pandas.DataFrame([{"id": "a", "question": QUESTION, "answer": ["Honolulu", "Honolulu, Hawaii"]}])
    given.to_parquet(tmp_path / "rows.parquet")
    made = granola.ladders(pandas.read_parquet(tmp_path / "rows.parquet"), sample)
    assert made.loc[0, "ladder"] == granola.ladders(given, sample).loc[0, "ladder"]
    made.to_parquet(tmp_path / "made.parquet")
    again = pandas.read_parquet(tmp_path / "made.parquet")
    verdicts = [granola.match("in Hawaii", frame.loc[0, "levels"]) for frame in (again, made)]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].level == 3
    report = granola.score(again, pandas.DataFrame({"id": ["a"], "prediction": ["Hawaii"]}), resamples=20)
    assert report.overall.estimates["granola_accuracy"].value == 1
    assert "snapshot:unknown" not in str(granola.score(made, {"a": "Hawaii"}, resamples=20).signature)


def test_levels_in_any_form(sample: Any) -> None:
    row = granola.ladder(QUESTION, "Honolulu", sample)
    known = granola.match("in Hawaii", row)
    forms: list[Any] = [row.levels, row.to_json()["levels"], [level.names() for level in row.levels]]
    assert [granola.match("in Hawaii", form, question=QUESTION) for form in forms] == [known] * 3
    for bad in ("Honolulu", "[1", ["Honolulu"], [[1]], [{"text": "Honolulu"}], 7, [{"tiers": [{}]}]):
        with pytest.raises(MatcherError, match=r"levels? (is|are)"):
            granola.match("Honolulu", bad)  # type: ignore[arg-type]
    with pytest.raises(MatcherError, match="prediction is a TieredRow; expected a text"):
        granola.match(row, "in Hawaii")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the questions are one dict; expected a list"):
        granola.ladders(ROWS[0], sample)  # type: ignore[call-overload]


def test_rows_as_they_are_published(sample: Any, tmp_path: Path) -> None:
    path = tmp_path / "webquestions.json"
    path.write_text('[{"utterance": "Where was Barack Obama born?", "targetValue": "(list (description Honolulu))"}]')
    (row,) = granola.ladders(path, sample, preset="webquestions")
    assert len(row.levels) > 2
    mine = [
        {"nr": 7, "prompt": QUESTION, "gold": "Honolulu", "split": "test"},
        {"nr": 8, "prompt": QUESTION, "gold": "Honolulu", "split": "train"},
    ]
    fields: dict[str, Any] = {"question_field": "prompt", "answer_field": "gold", "id_field": "nr"}
    (named,) = granola.ladders(mine, sample, split="test", **fields)
    assert (named.id, named.levels) == ("7", row.levels)
    with pytest.raises(RowError, match="question 1: no field 'prompts'; the row has nr, prompt, gold, split"):
        granola.ladders(mine, sample, question_field="prompts")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    made = granola.ladders(pandas.DataFrame(mine), sample, **fields)
    assert list(made["ladder"]) == [" › ".join(level.names()[0] for level in row.levels)] * 2
    assert granola.score(made, {"7": "Hawaii", "8": "Paris"}, resamples=20).overall.n == 2
    assert list(granola.ladders(pandas.DataFrame(mine), sample, split="train", **fields)["id"]) == ["8"]


def test_predictions_join_on_the_question(sample: Any, tmp_path: Path) -> None:
    rows = granola.ladders(ROWS, sample)
    texts = {"where was barack obama born": "Hawaii", ROWS[1]["question"]: "Berlin"}
    records = [{"id": "other", "question": question, "prediction": text} for question, text in texts.items()]
    (tmp_path / "data").mkdir()
    write_tiered(iter(rows), tmp_path / "data" / "test.jsonl")
    for known in (rows, tmp_path, tmp_path / "data" / "test.jsonl"):
        for predictions in (texts, records):
            report = granola.score(known, predictions, join="question", resamples=20)
            assert report.overall.estimates["granola_accuracy"].value == 0.5
    with pytest.raises(UsageError, match="join is 'text'; allowed: id, question"):
        granola.score(rows, texts, join="text")  # type: ignore[arg-type]
    write_tiered(iter(rows), tmp_path / "data" / "test-00001-of-00002.jsonl")
    with pytest.raises(UsageError, match="is a folder with 2 files of rows; name one of them"):
        granola.score(tmp_path, texts)


def test_what_cannot_be_used_is_told_with_its_place(sample: Any, tmp_path: Path) -> None:
    with pytest.raises(RowError, match=r"question 2: .*answer"):
        granola.ladders([ROWS[0], {"id": "c", "question": "Where?"}], sample)
    with pytest.raises(UsageError, match="question 1 is a str; expected a mapping"):
        granola.ladders(["Where?"], sample)
    with pytest.raises(RowError):
        granola.ladder(" ", "Honolulu", sample)
    with pytest.raises(PredictionError, match=r"prediction 2: .* an empty text declines"):
        granola.score(
            granola.ladders(ROWS, sample), [{"id": "a", "prediction": "Hawaii"}, {"id": "b", "prediction": None}]
        )
    with pytest.raises(UsageError, match="answer is None; expected a text"):
        granola.ladder(QUESTION, None, sample)  # type: ignore[arg-type]
    with pytest.raises(MatcherError, match="prediction is None; expected a text"):
        granola.match(None, [["Hawaii"]])  # type: ignore[arg-type]
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
    kept = granola.score(rows, str(said))
    read = granola.score(str(tmp_path / "tiers.jsonl"), str(said), snapshot=rows.snapshot)  # it has no run record
    assert kept.signature == read.signature
    assert f"snapshot:{rows.snapshot[:8]}" in str(kept.signature)
    assert "snapshot:unknown" in str(granola.score([*rows], str(said)).signature)
    assert "snapshot:abc" in str(granola.score(rows, str(said), snapshot="abc").signature)
    assert kept.overall == read.overall
