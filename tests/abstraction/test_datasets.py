"""Datasets: what is written and described, with what a phraser and a scorer say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abstraction.datasets.building import DatasetSettings, build_dataset
from abstraction.datasets.dataset_cleaning import SCORE, STEPS, CleaningStep
from abstraction.datasets.dataset_columns import Columns
from abstraction.datasets.dataset_statistics import Statistics
from abstraction.datasets.saved_work import QuestionFiles
from abstraction.errors import DatasetError, RowError
from abstraction.files.row_shapes import shape_of
from tests.abstraction.tiny_dataset import ASKED, Scored, Worded, built, lines, put, tiered, world


def test_a_dataset_has_every_row_somewhere_and_counts_that_add_up(tmp_path: Path) -> None:
    made, rows = built(tmp_path, settings={"command": "here"})
    assert [row.id for row in rows] == ["a", "b", "e"]
    dropped = {row["id"]: (row["step"], row["reason"]) for row in lines(tmp_path / "out" / "dropped.jsonl")}
    assert dropped == {"d": ("several-answers", "several answers"), "c": ("missing-answers", "no-link")}
    counts = made.cleaner.counts
    assert (counts[CleaningStep.SEVERAL_ANSWERS].rows, counts[CleaningStep.MISSING_ANSWERS].rows) == (5, 4)
    assert counts[CleaningStep.INCONSISTENT_DESCRIPTIONS].unjudged == 4  # taken before the row without an answer goes
    assert [counts[step].rows for step in (CleaningStep.DUPLICATE_ANSWERS, CleaningStep.TRIVIAL_ANSWERS)] == [3, 3]
    assert made.statistics.rows == 3
    assert made.statistics.rows_by_answer_count() == {4: 2, 3: 1}
    record = json.loads((tmp_path / "out" / "build.json").read_text())
    assert record["statistics"]["relations"] == {"P19": 3}
    assert record["request"]["inputs"][0]["name"] == "q.jsonl"
    assert record["cleaning"]["missing-answers"]["reasons"] == {"no-link": 1}
    assert not list(tmp_path.glob(".out*"))
    assert not (tmp_path / "out" / "rejected.jsonl").exists()


def test_rows_have_granola_eqs_columns_then_ours_then_the_questions_own(tmp_path: Path) -> None:
    made, rows = built(tmp_path)
    first, _, last = lines(made.data)
    assert (first["question_entity"], first["question_entity_qid"]) == ("Ann Smith", "Q9")
    assert first["question_entity_description"] == "painter"
    assert first["answer_entity_description"] == "city in Marlow County, Norland"
    assert (first["question_entity_sitelinks"], first["answer_entity_sitelinks"]) == (None, 7)
    assert [first[f"granola_answer_{k}"] for k in range(1, 7)] == [
        "Ashby",
        "Marlow County, Norland",
        "Norland",
        "Vestria",
        "",
        "",
    ]
    assert (first["num_granola_answers"], first["answer_entity_popularity"], first[SCORE]) == (4, None, None)
    assert (first["topic"], last["topic"]) == ("art", "")
    assert json.loads(last["votes"]) == {"yes": [1]}
    assert rows[0].levels[0].tiers[0].aliases == ("Ashbyville",)
    assert rows[0].levels[1].tiers[0].evidence


def test_parquet_and_jsonl_say_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "p").mkdir()
    (tmp_path / "j").mkdir()
    made, rows = built(tmp_path / "p", format="parquet", settings={"split": "train"})
    assert made.data.name == "train.parquet"
    table = parquet.read_table(made.data)
    other, again = built(tmp_path / "j")
    assert table.to_pylist() == lines(other.data)
    assert [row.levels for row in rows] == [row.levels for row in again]
    assert str(table.schema.field("num_granola_answers").type) == "int64"
    assert str(table.schema.field(SCORE).type) == "double"  # also where every value is missing
    features = (tmp_path / "p" / "out" / "README.md").read_text().partition("features:")[2].partition("---")[0]
    named = [line.split('"')[1] for line in features.splitlines() if line.startswith("  - name:")]
    assert named == table.column_names


def test_columns_of_mixed_kinds_become_one_kind() -> None:
    columns = Columns()
    values = [{"n": 1, "m": 1, "t": True, "o": None}, {"n": 2.5, "m": "x", "t": None, "o": None}]
    rows = [tiered("Town", "State", **extra) for extra in values]
    for row in rows:
        columns.register_fields(row)
    assert {k: columns.kinds[k] for k in "nmto"} == {"n": "float64", "m": "string", "t": "bool", "o": "string"}
    told = [columns.to_record(row) for row in rows]
    assert [(r["n"], r["m"], r["t"], r["o"]) for r in told] == [(1.0, "1", True, ""), (2.5, "x", None, "")]


def test_the_card_tells_what_was_and_what_was_not_done(tmp_path: Path) -> None:
    steps = frozenset(STEPS) - {CleaningStep.DUPLICATE_ANSWERS}
    built(tmp_path, settings={"steps": steps})
    text = (tmp_path / "out" / "README.md").read_text()
    front = text.split("---\n")[1]
    assert "license:" in front
    assert not any(line.startswith("license:") for line in front.splitlines())  # whoever publishes it chooses
    assert 'path: "data/test.jsonl"' in front
    assert "| rows | 3 |" in text
    assert "| rows with 4 or more answers | 66.7 % |" in text
    assert "| answers per row, mean | 3.67 |" in text  # (4 + 4 + 3) / 3
    # Of five questions one has two answers; of the four left one has no coarser answer.
    assert "| all steps | rows of those that were to be cleaned | 1 of 4 (25.0 %) |" in text
    assert "not applied" in text
    assert "no model was asked" in text


def test_the_card_names_the_source_of_a_preset_and_its_licence(tmp_path: Path) -> None:
    cards = {}
    for preset in (None, "simpleqa", "triviaqa"):
        folder = tmp_path / str(preset)
        folder.mkdir()
        answer = {"value": "Ashby"} if preset == "triviaqa" else "Ashby"
        asked = {"question": "Where was Ann Smith born?", "answer": answer}
        questions = QuestionFiles(files=(put(folder / "q.jsonl", [asked]),), shape=shape_of(preset))
        settings = DatasetSettings(name="Tiny", format="jsonl")
        build_dataset(questions, world(folder / "w.sqlite"), folder / "out", settings=settings)
        cards[preset] = (folder / "out" / "README.md").read_text().partition("## Licence")[2]
    assert "The questions and their gold answers are from SimpleQA, published under MIT." in cards["simpleqa"]
    assert "from TriviaQA, under the terms of those who published it." in cards["triviaqa"]
    assert "The questions keep the licence of where they come from" in cards[None]


def test_a_rejected_row_is_listed_and_the_rest_is_built(tmp_path: Path) -> None:
    made, rows = built(tmp_path, [*ASKED[:2], {"id": "a", "question": "Again?", "answer": "X"}, {"answer": "Y"}])
    assert made.rejected == 2
    assert [row["source"].rpartition(":")[2] for row in lines(tmp_path / "out" / "rejected.jsonl")] == ["3", "4"]
    assert "2 input rows could not be read" in (tmp_path / "out" / "README.md").read_text()
    assert len(rows) == 2


def test_a_phraser_and_a_scorer_take_their_places(tmp_path: Path) -> None:
    made, rows = built(
        tmp_path, phraser=Worded(tmp_path / "log"), scorer=Scored({"a": 0.75, "b": 0.5}), settings={"batch": 2}
    )
    assert [row.id for row in rows] == ["b", "e"]
    assert [row.extra.get(SCORE) for row in rows] == [0.5, None]
    assert all(row.extra["worded"] is True for row in rows)
    assert made.cleaner.counts[CleaningStep.INCONSISTENT_DESCRIPTIONS].dropped == 1
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| Phraser | `worded` |" in card
    assert "phrased by a model" in card


def test_a_score_that_a_row_brought_stays_where_there_is_no_other(tmp_path: Path) -> None:
    rows = [{**row, SCORE: 0.25} for row in ASKED]
    _, found = built(tmp_path, rows, scorer=Scored({"a": 0.5}))
    assert {row.id: row.extra[SCORE] for row in found}["a"] == 0.5
    assert {row.extra[SCORE] for row in found} == {0.5, 0.25}


def test_a_field_called_phrasing_is_the_questions_own_where_nothing_is_phrased(tmp_path: Path) -> None:
    theirs = {"tiers": [{"x": 1}], "fallback": "refused", "why": "so"}
    made, found = built(tmp_path, [{**row, "phrasing": theirs} for row in ASKED])
    assert made.phrasing.rows_with_failed_call == 0
    assert all(json.loads(row.extra["phrasing"]) == theirs for row in found)
    assert not (tmp_path / "out" / "phrasing.jsonl").exists()


def test_what_cannot_be_a_dataset_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no row is left after cleaning \(1 by missing-answers\)"):
        built(tmp_path, [ASKED[2]])
    assert not (tmp_path / "out").exists()
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(RowError, match=r"q.jsonl can be used: 1 rejected, .*q.jsonl:1: question '' is no question"):
        built(tmp_path, [{"question": "", "answer": "x"}], restart=True)
    assert not (tmp_path / ".out.work").exists()
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(RowError, match="no row has one answer"):
        built(tmp_path, [ASKED[3]])
    for wrong in ({"split": "a b"}, {"name": " "}, {"batch": 0}, {"most": 1.5}):
        with pytest.raises(DatasetError):
            DatasetSettings(**{"name": "x", "format": "jsonl", **wrong})
    for files, limit, said in (
        (Path("-"), None, "not -"),
        (tmp_path, None, "is a folder"),
        (tmp_path / "q", 0, "limit 0"),
    ):
        with pytest.raises(DatasetError, match=said):
            QuestionFiles(files=(files,), limit=limit)


def test_statistics_count_levels_as_answers() -> None:
    statistics = Statistics()
    for row in (tiered("A", "b"), tiered("A", ("b", "c"), "d"), tiered("A", "b", "c", "d", "e", relation="P2")):
        statistics.add(row)
    assert statistics.answer_count_shares() == {"1": 0, "2": 1 / 3, "3": 1 / 3, "4 or more": 1 / 3}
    assert statistics.relations == ["P2", "P19"]
    assert statistics.mean_answer_count() == pytest.approx(10 / 3)
    assert statistics.to_json()["answers_with_siblings"] == {"2": 1, "4": 1, "5": 1}
    assert Statistics().answer_count_shares() == {}
