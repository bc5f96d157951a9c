"""Sheets for people: drawn blind, read back as verdicts of any task, agreement; tables in the papers' columns."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from granola.commands import AttributionEvaluate, SheetsDraw, SheetsRead, Table
from granola.errors import SheetError, UsageError
from granola.evidence.annotation_sheets import drawn_items
from granola.evidence.task_list import SHEETS
from granola.grounding.answer_judging import AnswerJudge
from granola.grounding.grounded_rows import read_grounded
from granola.grounding.sentence_judges import WordSentences
from tests.grounding_world import own_rows

LABELS = ["supportive", "partially supportive", "contradictory", "irrelevant"]


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def samples(n: int = 8) -> list[dict[str, Any]]:
    return [
        {"id": f"s{at}", "question": "q?", "statement": f"It is {at}.", "citations": [f"={at}", "A text."],
         "category": LABELS[at % 4], "complexity": "single"}
        for at in range(n)
    ]  # fmt: skip


def filled(sheet: Path, fill: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Fill a sheet in: `fill` gives the cells of a line."""
    with sheet.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(lines[0]))
        writer.writeheader()
        writer.writerows(line | (fill(line) if line["item"] else {}) for line in lines)


def test_three_annotators_label_four_categories(tmp_path: Path) -> None:
    items = write(tmp_path / "samples.jsonl", samples())
    drawn, sheet = tmp_path / "drawn.jsonl", tmp_path / "sheet.csv"
    SheetsDraw(items=items, task="attribution", out=drawn, sheet=sheet, annotators=3, number=8).run()
    sheets = [tmp_path / f"sheet.{n}.csv" for n in (1, 2, 3)]
    text = sheets[0].read_text(encoding="utf-8")
    assert "s3" not in text
    assert text.count("supportive") == 2  # what labels mean, no label of an item
    gold = {str(n): orjson.loads(line)["category"] for n, line in enumerate(drawn.read_bytes().splitlines(), 1)}
    filled(sheets[0], lambda line: {"category": gold[line["item"]]})
    filled(sheets[1], lambda line: {"category": "?" if line["item"] == "1" else gold[line["item"]][:4]})
    filled(sheets[2], lambda line: {"category": "irrelevant" if line["item"] == "2" else gold[line["item"]]})
    people = tmp_path / "people.jsonl"
    told = SheetsRead(drawn=drawn, task="attribution", sheet=sheets, out=people).run().agreement["category"]
    counted = (told["labelled_by_all"], told["unclear"], told["valid"], told["unanimous"])
    assert counted in ((8, 1, 7, 6), (8, 1, 7, 7))  # the second is irrelevant itself in one order of four
    assert told["kappa_with_automatic"] == 1.0
    rows = [orjson.loads(line) for line in people.read_bytes().splitlines()]
    assert {row["evaluator"] for row in rows} == {f"person:sheet.{n}" for n in (1, 2, 3)}
    assert [row["unclear"] for row in rows if "unclear" in row] == [["category"]]
    # People are judges as any others: their labels are held against the samples', and evaluators against theirs.
    table = Table(judged=(people,), table="caqa-5", resamples=100).run().filled
    assert table.rows["person:sheet.1"]["micro-F1"].value == 1.0
    report = AttributionEvaluate(samples=items, evaluator=("words=0.6",), people=(people,), resamples=100).run()
    assert report.agreement["people"] == 3
    filled(sheets[0], lambda line: {"category": "perhaps"})
    with pytest.raises(SheetError, match="category is 'perhaps'; allowed: supportive"):
        SheetsRead(drawn=drawn, task="attribution", sheet=sheets).run()


def test_the_draw_depends_on_items_not_on_their_order() -> None:
    form = SHEETS["attribution"]
    assert drawn_items(samples(), form, 4, seed=1) == drawn_items(samples()[::-1], form, 4, seed=1)
    assert drawn_items(samples(), form, 4, seed=1) != drawn_items(samples(), form, 4, seed=2)


def test_answers_are_judged_sentence_by_sentence_on_sheets_too(tmp_path: Path) -> None:
    questions = write(tmp_path / "questions.jsonl", own_rows()[:4])
    pairs = [(sample, sample.reference) for sample in read_grounded(questions)]
    rows = [item.to_json() | {"system": "one"} for item in AnswerJudge(sentences=WordSentences()).judged(pairs)]
    judged, drawn, sheet = write(tmp_path / "judged.jsonl", rows), tmp_path / "drawn.jsonl", tmp_path / "sheet.csv"
    with pytest.raises(UsageError, match="give --questions"):
        SheetsDraw(items=judged, task="grounding", out=drawn, sheet=sheet).run()
    SheetsDraw(items=judged, task="grounding", out=drawn, sheet=sheet, questions=questions).run()
    filled(sheet, lambda line: {"all": "supported"} if line["part"] else {"eligibility": "no", "deflects": "answers"})
    people = tmp_path / "people.jsonl"
    told = SheetsRead(drawn=drawn, task="grounding", sheet=(sheet,), out=people).run().agreement
    assert told["eligibility"]["counts"] == {"no issues": 4}
    filled_table = Table(judged=(people,), table="garage-2", resamples=100).run().filled
    assert filled_table.rows["one"]["F"].value == 1.0
    assert filled_table.rows["one"]["RAF strict"].n == 0


def test_a_table_is_text_latex_csv_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": str(n), "system": "my_model", "scores": {"factuality": 0.5, "relevance": n / 2}} for n in range(3)]
    judged = write(tmp_path / "judged.jsonl", rows)
    asked: dict[str, Any] = {"judged": (judged,), "table": "conner-2", "resamples": 100}
    Table(**asked, printed=True, intervals=True).execute()
    shown = capsys.readouterr().out
    assert "0.5000 [0.5000, 0.5000]" in shown
    assert "paper: LLaMA, zero-shot" in shown
    Table(**asked, format="latex").execute()
    latex = capsys.readouterr().out
    assert r"my\_model & 0.5000 & - & - & 0.5000" in latex
    assert latex.startswith(r"\begin{tabular}{lrrrrrrrrr}")
    Table(**asked, format="csv").execute()
    assert "my_model,0.5000,-,-,0.5000" in capsys.readouterr().out
    Table(**asked, as_json=True).execute()
    told = orjson.loads(capsys.readouterr().out)
    assert told["systems"]["my_model"]["rel."]["n"] == 3
    assert told["printed"]["DPR, supervised"]["cons."] == 0.9778
    more = {"system": "other", "scores": {"relevance": 0.0}}
    other = [{**row, **more, "topic": f"t{n % 2}"} for n, row in enumerate(rows)]
    both = write(tmp_path / "both.jsonl", [*rows, *other])
    compared = Table(judged=(both,), table="conner-2", tests=True, resamples=100).run()
    (relevance,) = [test for test in compared.tests if test.metric == "relevance"]
    assert (relevance.difference, relevance.n) == (0.5, 3)
    sliced = Table(judged=(both,), table="conner-2", by="topic", resamples=100).run().filled
    assert {name: row["relevance"].n for name, row in sliced.rows.items()} == {"other, t0": 2, "other, t1": 1}
    with pytest.raises(UsageError, match="no row has this field"):
        Table(judged=(both,), table="conner-2", by="colour").run()
    with pytest.raises(UsageError, match="no row of granola grounding judge"):
        Table(judged=(judged,), table="garage").run()
    with pytest.raises(UsageError, match="allowed: garage, garage-2"):
        Table(judged=(judged,), table="garage-9").run()
