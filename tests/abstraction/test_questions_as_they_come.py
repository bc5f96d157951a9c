"""Splits, folders and languages of files of questions; predictions that belong to rows by their question."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

import granola
from abstraction.errors import RowError
from abstraction.files.records import data_files
from abstraction.files.row_shapes import PRESETS, shape_of
from abstraction.files.rows import QARow, read_questions, row_language_or_default, unknown_language_of_row
from abstraction.maker.pipeline import LadderMaker, make_ladders
from granola.commands import Dataset, Score, Tiers
from granola.decoding.samples import read_unsampled_questions
from granola.errors import PredictionError
from granola.scoring.predictions import QuestionIds, read_predictions
from granola.shortcuts import bundled
from kg.building.snapshot import build
from kg.store import open_store


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("snapshot") / "s.sqlite"
    build([bundled("wikidata")], path)
    return path


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    return path


def question(place: str = "Honolulu", **more: Any) -> dict[str, Any]:
    return {"question": "Where was Barack Obama born?", "answer": [place], **more}


def test_headings_of_a_spreadsheet_are_read_and_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text("ID,Question,Answers\n7,Where was Ada born?,London\n", encoding="utf-8")
    for shape in (None, shape_of(question="Question", answer="Answers")):
        (row,) = read_questions([file], shape=shape)
        assert (row.id, row.question, row.answers) == ("7", "Where was Ada born?", ("London",))


def test_folders_have_their_rows_in_files_called_by_their_splits(tmp_path: Path) -> None:
    for name in ("train-00000-of-00002.parquet", "train-00001-of-00002.parquet", "validation.jsonl", "notes.txt"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / name).write_text("x")
    assert [Path(one).name for one in data_files(tmp_path, "train")] == [
        "train-00000-of-00002.parquet", "train-00001-of-00002.parquet",
    ]  # fmt: skip
    assert [Path(one).name for one in data_files(tmp_path, "dev")] == ["validation.jsonl"]
    with pytest.raises(RowError, match="is a folder of train, validation; name one with --split"):
        data_files(tmp_path)
    with pytest.raises(RowError, match="no split 'test'; there are train, validation"):
        data_files(tmp_path, "test")
    with pytest.raises(RowError, match="without a file of rows"):
        data_files(write(tmp_path / "empty" / "notes.txt", []).parent)
    single = write(tmp_path / "one.jsonl", [question()])
    assert data_files(single, "anything") == [single]


def test_rows_of_one_split_are_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "all.jsonl", [
        question(id="a", split="train"), question(id="b", split="test"), question(id="c", split="dev"),
    ])  # fmt: skip
    assert [row.id for row in read_questions([path], shape=shape_of(split="test"))] == ["b"]
    assert [row.id for row in read_questions([path], shape=shape_of(split="validation"))] == ["c"]
    plain = write(tmp_path / "plain.jsonl", [question(id="a")])
    with pytest.raises(RowError, match="no row names its split"):
        list(read_questions([plain], shape=shape_of(split="test")))
    called = write(tmp_path / "qa.test.jsonl", [question(id="a")])
    assert [row.id for row in read_questions([called], shape=shape_of(split="test"))] == ["a"]


def test_splits_may_be_numbers(tmp_path: Path) -> None:
    rows = [{"interaction_id": f"r{at}", "query": "Where?", "answer": "Lyon", "split": at % 2} for at in range(3)]
    path = write(tmp_path / "crag.jsonl", [*rows, {**rows[0], "interaction_id": "r3", "split": True}])
    for split, ids in (("0", ["r0", "r2"]), ("1", ["r1"]), ("2", [])):
        assert [row.id for row in read_questions([path], shape=shape_of("crag", split=split))] == ids
    no_split = write(tmp_path / "bare.jsonl", [{**rows[0], "split": None}])
    with pytest.raises(RowError, match="no row names its split"):
        list(read_questions([no_split], shape=shape_of("crag", split="0")))


def mkqa(id: int, *answers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"example_id": id, "queries": {"en": f"where is {id}?"}, "answers": {"en": list(answers)}, **more}


UNANSWERED = [
    mkqa(1, {"type": "unanswerable", "text": None, "aliases": []}),
    mkqa(2, {"type": "long_answer", "text": None, "aliases": []}),
    mkqa(3, {"type": "unanswerable", "text": "unanswerable", "aliases": []}),
    mkqa(4, {"type": 2, "text": None}),
    mkqa(5, answers=None),
]
LYON = mkqa(6, {"type": "entity", "entity": "Q456", "text": "Lyon", "aliases": []})


def test_rows_without_an_answer_are_left_out_and_told(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "mkqa.jsonl", [*UNANSWERED, LYON]))
    making = Tiers(qa=(path,), preset="mkqa", snapshot=str(snapshot), out=str(tmp_path / "t.jsonl"))
    made = making.run()
    assert not making.failed(made)
    making.report_problems(made)
    assert "5 rows left out: the dataset has no answer to them\n" in capsys.readouterr().err
    assert (made.counts["unanswered"], made.rejected, made.more["coverage"]["total"]["questions"]) == (5, [], 1)
    assert made.to_json()["unanswered"] == 5
    assert Dataset(qa=(Path(path),), preset="mkqa", snapshot=str(snapshot), out=tmp_path / "made").execute() == 0
    assert "5 rows left out" in capsys.readouterr().err
    steps = [orjson.loads(line)["step"] for line in (tmp_path / "made" / "dropped.jsonl").read_bytes().splitlines()]
    assert steps == ["unanswered"] * 5 + ["missing-answers"] * (len(steps) - 5)
    card = (tmp_path / "made" / "README.md").read_text()
    assert "| left out: questions to which their dataset has no answer | -5 |" in card
    assert "| rows read | 6 |" in card
    questions = read_unsampled_questions(
        [path], shape=PRESETS["mkqa"], on_reject=lambda row: pytest.fail(str(row))
    )
    asked = [row.id for row in questions]
    assert asked == ["6"]
    assert [row.id for row in granola.ladders(path, str(snapshot), preset="mkqa")] == ["6"]
    assert [row.id for row in granola.ladders([*UNANSWERED, LYON], str(snapshot), preset="mkqa")] == ["6"]


def test_a_fault_is_no_row_without_an_answer(snapshot: Path, tmp_path: Path) -> None:
    wrong = [mkqa(7, {"type": "entity", "text": "Lyon"}), {**mkqa(8), "answers": {"de": []}}, {"question": "Where?"}]
    path = str(write(tmp_path / "mkqa.jsonl", wrong))
    made = Tiers(qa=(path,), preset="mkqa", snapshot=str(snapshot), out=str(tmp_path / "t.jsonl")).run()
    assert (made.counts["unanswered"], len(made.rejected)) == (0, 2)
    alone = str(write(tmp_path / "alone.jsonl", UNANSWERED))
    with pytest.raises(RowError, match="can be used: 5 rows left out: the dataset has no answer"):
        Tiers(qa=(alone,), preset="mkqa", snapshot=str(snapshot), out=str(tmp_path / "u.jsonl")).run()
    named = [row.id for row in read_questions([path], shape=shape_of("mkqa", answer="example_id"), on_reject=id)]
    assert named == ["7", "8"]


def test_tiers_and_scores_take_folders(snapshot: Path, tmp_path: Path) -> None:
    write(tmp_path / "qa" / "test.jsonl", [question(id="a")])
    write(tmp_path / "qa" / "train.jsonl", [question(id="b")])
    Tiers(qa=(str(tmp_path / "qa"),), split="test", snapshot=str(snapshot), out=str(tmp_path / "t.jsonl")).run()
    assert orjson.loads((tmp_path / "t.jsonl").read_bytes())["id"] == "a"
    built = Dataset(qa=(tmp_path / "qa",), split="train", snapshot=str(snapshot), out=tmp_path / "made").run()
    assert built.data.name == "train.jsonl"
    said = write(tmp_path / "said.jsonl", [{"id": "b", "prediction": "Hawaii"}])
    run = Score(tiered=tmp_path / "made", predictions=str(said), resamples=10)  # type: ignore[arg-type]
    assert run.tiered.endswith("train.jsonl")
    assert run.run().report.overall.estimates["granola_accuracy"].value == 1.0
    with pytest.raises(RowError, match="test, train"):
        Score(tiered=str(tmp_path / "qa"), predictions=str(said))


def test_a_row_is_told_in_its_own_language(snapshot: Path, tmp_path: Path) -> None:
    rows = [
        question(id="a"),
        question(id="b", language="de"),
        question(id="c", language="tlh"),
        question(id="d", language="de-at"),
    ]
    asked = list(read_questions([write(tmp_path / "qa.jsonl", rows)]))
    with closing(open_store(snapshot)) as store:
        made = list(make_ladders(asked, store))
        alone = {code: LadderMaker(store, language=code) for code in ("en", "de", "de-at")}
        for row, ladder, code in zip(asked, made, ("en", "de", "en", "de-at"), strict=True):
            assert ladder == alone[code].make(row)
        assert list(make_ladders(asked, store, on_reject=lambda row: None)) == made
    assert made[0].levels != made[1].levels


def row(**more: Any) -> QARow:
    return QARow(id="a", question="q", answers=("x",), answer_qids=(None,), extra=more)


def test_which_language_counts() -> None:
    assert row_language_or_default(row(language="de"), "en") == "de"
    assert row_language_or_default(row(language="DE"), "en") == "de"
    assert row_language_or_default(row(language="de"), "de-at") == "de-at"
    assert row_language_or_default(row(language="German"), "en") == "en"
    assert row_language_or_default(row(language=3), "fr") == "fr"
    assert row_language_or_default(row(), "fr") == "fr"
    assert unknown_language_of_row(row(language="German")) == "German"
    assert unknown_language_of_row(row(language="de")) is None


def test_predictions_belong_to_rows_by_their_question(snapshot: Path, tmp_path: Path) -> None:
    qa = write(tmp_path / "qa.jsonl", [question(id="a"), {"question": "Who are you?", "answer": "x", "id": "b"}])
    Tiers(qa=(str(qa),), snapshot=str(snapshot), out=str(tmp_path / "t.jsonl")).run()
    said = write(tmp_path / "said.jsonl", [
        {"id": "17", "question": "where was  Barack Obama born", "prediction": "Hawaii"},
        {"question": "Who are you?", "prediction": "nobody"},
    ])  # fmt: skip
    report = (
        Score(tiered=str(tmp_path / "t.jsonl"), predictions=str(said), join="question", resamples=10).run().report
    )  # type: ignore[arg-type]
    assert report.overall.unscored == 0
    assert report.overall.estimates["granola_accuracy"].value == 0.5
    with pytest.raises(PredictionError, match="no prediction"):
        Score(tiered=str(tmp_path / "t.jsonl"), predictions=str(said), resamples=10).run()
    strange = write(tmp_path / "strange.jsonl", [{"question": "What is it?", "prediction": "x"}])
    with pytest.raises(PredictionError, match="unknown ids"):
        Score(tiered=str(tmp_path / "t.jsonl"), predictions=str(strange), join="question").run()
    with pytest.raises(PredictionError, match="no prediction"):  # every row is rejected: it has no such field
        Score(tiered=str(tmp_path / "t.jsonl"), predictions=str(said), join="wording").run()


def test_a_question_that_several_rows_ask_joins_nothing(tmp_path: Path) -> None:
    from abstraction.files.rows import TieredRow

    rows = [
        TieredRow.from_json({"id": id, "question": "Who won?", "answer": ["x"], "levels": [["x"]]}) for id in ("a", "b")
    ]
    said = write(
        tmp_path / "said.jsonl", [{"question": "who won", "prediction": "x"}, {"question": "Why?", "prediction": "y"}]
    )
    found = read_predictions(said, by_question=QuestionIds.of(rows))
    assert [one.reason for one in found.rejected] == ["several rows ask this question; join on ids"]
    lacking = write(tmp_path / "lacking.jsonl", [{"id": "a", "prediction": "x"}])
    with pytest.raises(PredictionError, match="no question: expected a text under 'question'"):
        read_predictions(lacking, by_question=QuestionIds.of(rows))


TRIVIA = {
    "Question": "Where was Barack Obama born?",
    "QuestionId": "tc_1",
    "Answer": {"Value": "Honolulu", "Aliases": []},
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["web-dev.json", "web-dev.json.gz"])
def test_one_object_with_a_list_of_rows_is_read_as_these(tmp_path: Path, name: str, indent: int | None) -> None:
    data = [TRIVIA, {**TRIVIA, "QuestionId": "tc_2"}]
    text = json.dumps({"Data": data, "Domain": "Web", "Version": 1.0}, indent=indent)
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    rows = list(read_questions([tmp_path / name], shape=PRESETS["triviaqa"]))
    assert [(row.id, row.answers) for row in rows] == [("tc_1", ("Honolulu",)), ("tc_2", ("Honolulu",))]


@pytest.mark.parametrize(
    "text",
    [
        '{"question": "A?", "answer": "x", "notes": [{"a": 1}]}',
        '{"question": "A?", "answer": "x"}\n{"question": "B?", "answer": "y"}',
    ],
)
def test_rows_with_lists_in_them_stay_rows(tmp_path: Path, text: str) -> None:
    (tmp_path / "rows.json").write_text(text)
    assert len(list(read_questions([tmp_path / "rows.json"]))) == text.count("question")
