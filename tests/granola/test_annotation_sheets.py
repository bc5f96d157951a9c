"""Sheets for people: drawn blind, read back as verdicts of any task, agreement; tables in the papers' columns."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from abstraction.files.rows import read_tiered
from granola.commands import SheetsDraw, SheetsRead, Verdicts
from granola.commands.messages import json_of
from granola.errors import SheetError, UsageError
from granola.evidence.annotation_sheets import draw_items, tier_sheet_items
from granola.evidence.attribution.attribution_task import ATTRIBUTION
from granola.evidence.grounding.answer_judging import AnswerJudge
from granola.evidence.grounding.grounded_rows import read_grounded
from tests.grounding_world import own_rows, word_judge

AXES = ("correct", "informative", "granularity")
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
    drawn = tmp_path / "drawn.jsonl"
    SheetsDraw(items=items, out=drawn, annotators=3, number=8).run()
    sheets = tuple(tmp_path / f"drawn.{n}.csv" for n in (1, 2, 3))
    text = sheets[0].read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="no cell of the sheets is filled in"):
        SheetsRead(drawn=drawn, sheets=sheets).run()
    assert "s3" not in text
    assert text.count("supportive") == 2  # what labels mean, no label of an item
    gold = {str(n): orjson.loads(line)["category"] for n, line in enumerate(drawn.read_bytes().splitlines(), 1)}
    filled(sheets[0], lambda line: {"category": gold[line["item"]]})
    filled(sheets[1], lambda line: {"category": "?" if line["item"] == "1" else gold[line["item"]][:4]})
    filled(sheets[2], lambda line: {"category": "irrelevant" if line["item"] == "2" else gold[line["item"]]})
    people = tmp_path / "people.jsonl"
    told = SheetsRead(drawn=drawn, sheets=sheets, out=people).run()["agreement"]["category"]
    counted = (told["labelled_by_all"], told["unclear"], told["valid"], told["unanimous"])
    assert counted in ((8, 1, 7, 6), (8, 1, 7, 7))  # the second is irrelevant itself in one order of four
    assert told["kappa_with_automatic"] == 1.0
    rows = [orjson.loads(line) for line in people.read_bytes().splitlines()]
    assert {row["evaluator"] for row in rows} == {f"person:drawn.{n}" for n in (1, 2, 3)}
    assert [row["unclear"] for row in rows if "unclear" in row] == [["category"]]
    # People are judges as any others: their labels are held against the samples', and evaluators against theirs.
    told = Verdicts(judged=(people,), table="caqa-5", resamples=100).run()
    assert told.report["person:drawn.1"]["micro-F1"].value == 1.0
    filled(sheets[0], lambda line: {"category": "perhaps"})
    with pytest.raises(SheetError, match="category is 'perhaps'; allowed: supportive"):
        SheetsRead(drawn=drawn, sheets=sheets).run()


def test_the_draw_depends_on_items_not_on_their_order() -> None:
    form = ATTRIBUTION.sheet
    assert draw_items(samples(), form, 4, seed=1) == draw_items(samples()[::-1], form, 4, seed=1)
    assert draw_items(samples(), form, 4, seed=1) != draw_items(samples(), form, 4, seed=2)


def test_answers_are_judged_sentence_by_sentence_on_sheets_too(tmp_path: Path) -> None:
    questions = write(tmp_path / "questions.jsonl", own_rows()[:4])
    pairs = [(sample, sample.reference) for sample in read_grounded(questions)]
    items = AnswerJudge(sentences=word_judge()).judge(pairs)
    judged = write(tmp_path / "judged.jsonl", [item.model_dump(mode="json") | {"system": "one"} for item in items])
    drawn, sheet = tmp_path / "drawn.jsonl", tmp_path / "drawn.1.csv"
    with pytest.raises(UsageError, match="give --questions"):
        SheetsDraw(items=judged, out=drawn).run()
    SheetsDraw(items=judged, out=drawn, questions=questions).run()
    filled(sheet, lambda line: {"all": "supported"} if line["part"] else {"eligibility": "no", "deflects": "answers"})
    people = tmp_path / "people.jsonl"
    told = SheetsRead(drawn=drawn, sheets=(sheet,), out=people).run()["agreement"]
    assert told["eligibility"]["counts"] == {"no issues": 4}
    report = Verdicts(judged=(people,), table="garage-2", resamples=100).run().report
    assert (report["one"]["F"].value, report["one"]["RAF strict"].n) == (1.0, 0)


def test_tiers_are_judged_blind_and_become_error_rates(tmp_path: Path) -> None:
    row = {
        "id": "7", "question": "Where was Barack Obama born?", "answer": ["Honolulu"], "relation": "P19",
        "question_entity": {"text": "Barack Obama"}, "levels": [["Honolulu"], ["Hawaii", "Oahu"], ["the Pacific"]],
    }  # fmt: skip
    tiered = write(tmp_path / "tiers.jsonl", [to_tiered(row)])
    assert len(list(tier_sheet_items(read_tiered(tiered)))) == 3
    drawn = tmp_path / "drawn.jsonl"
    SheetsDraw(items=tiered, out=drawn, annotators=2, with_first=True).run()
    sheets = (tmp_path / "drawn.1.csv", tmp_path / "drawn.2.csv")
    text = sheets[0].read_text(encoding="utf-8")
    lines = {line["tier"]: line for line in csv.DictReader(text.splitlines()) if line["item"]}
    assert "P19" not in text
    assert lines["the Pacific"]["before"] == "Honolulu > Hawaii | Oahu", "all finer levels, not only the one before"
    assert {line["template"] for line in lines.values()} == {"Where was [X] born?"}
    # The first finds fault with Hawaii and Oahu, the second with Oahu; both leave the template's reading open.
    for sheet, wrong in zip(sheets, ({"Hawaii", "Oahu"}, {"Oahu"}), strict=True):
        marked = {tier: "0" if tier in wrong else "1" for tier in lines}
        filled(sheet, lambda line, marked=marked: dict.fromkeys(AXES, marked[line["tier"]]))  # type: ignore[misc]
    told = SheetsRead(drawn=drawn, sheets=sheets).run()
    coarser, every = (told["rates"][name] for name in sorted(told["rates"], reverse=True))
    assert [(rate["axis"], rate["errors"], rate["n"], rate["open"]) for rate in coarser] == [
        ("correct", 1, 2, 1), ("informative", 1, 2, 1), ("granularity", 1, 2, 1)
    ]  # fmt: skip
    assert {(rate["errors"], rate["n"], rate["open"]) for rate in every} == {(1, 3, 1)}
    shown = json_of(told)["rates"]
    assert [rate["paper"] for rate in shown["tiers coarser than the answer"]] == ["< 1 %", None, "9 %"]
    # Of four items three are agreed on: observed 3/4, by chance 1/2 * 3/4 + 1/2 * 1/4.
    assert told["agreement"]["correct"]["kappa"] == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert "358 answers with the 124 first ones among them" in told["paper"]


def to_tiered(row: dict[str, Any]) -> dict[str, Any]:
    """A tiered row of levels that are lists of texts."""
    return row | {"levels": [{"tiers": [{"text": text} for text in level]} for level in row["levels"]]}
