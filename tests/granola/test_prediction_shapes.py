"""Predictions as lm-evaluation-harness 0.4.13, inspect_ai 0.3.285 and OpenAI's batches write them, under any name."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from granola.commands.score import Match, Score
from granola.errors import PredictionError
from granola.scoring.predictions import (
    PREDICTION_PRESETS,
    QuestionIds,
    count_other_questions,
    prediction_shape,
    read_predictions,
)

SAID = {"a": "<think>Rome?</think>Paris", "b": "Italy"}
QUESTIONS = {"a": "Where was Ann born?", "b": "Where was Bob born?"}


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sample(id: str, content: Any) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": content}, "stop_reason": "stop"}
    return {"id": id, "epoch": 1, "input": QUESTIONS[id], "output": {"model": "m", "choices": [choice]}}


def samples() -> list[dict[str, Any]]:
    parts = [{"type": "reasoning", "reasoning": "Rome?"}, {"type": "text", "text": SAID["a"]}]
    return [sample("a", parts), sample("b", SAID["b"])]


def lm_eval(path: Path) -> Path:
    rows = [
        {
            "doc_id": number, "doc": {"id": id, "question": QUESTIONS[id]}, "resps": [[text]], "filter": name,
            "filtered_resps": ["[invalid]" if name == "strict" else text], "exact_match": 0.0,
        }
        for name in ("none", "strict") for number, (id, text) in enumerate(SAID.items())
    ]  # fmt: skip
    return lines(path, rows)


def inspect_json(path: Path) -> Path:
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples()}
    path.write_text(json.dumps(log, indent=2))
    return path


def inspect_archive(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for one in samples():
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
        archive.writestr("header.json", "{}")
    return path


def batch(path: Path) -> Path:
    chat = {"choices": [{"message": {"role": "assistant", "content": SAID["a"], "refusal": None}}]}
    text = {"type": "message", "content": [{"type": "output_text", "text": SAID["b"]}]}
    responses = {"object": "response", "output": [{"type": "reasoning", "summary": []}, text]}
    failed = {"custom_id": "c", "response": None, "error": {"code": "batch_expired", "message": "it expired"}}
    done = [
        {"custom_id": id, "response": {"status_code": 200, "body": body}, "error": None}
        for id, body in (("a", chat), ("b", responses))
    ]
    return lines(path, [*done, failed])


@pytest.mark.parametrize(
    ("preset", "write", "name"),
    [("lm-eval", lm_eval, "samples.jsonl"), ("inspect", inspect_json, "log.json"),
     ("inspect", inspect_archive, "log.eval"), ("openai-batch", batch, "out.jsonl")],
)  # fmt: skip
def test_presets(preset: str, write: Any, name: str, tmp_path: Path) -> None:
    file = read_predictions(write(tmp_path / name), shape=prediction_shape(preset))
    assert {id: one.text for id, one in file.predictions.items()} == SAID
    if preset == "openai-batch":
        assert [row.reason for row in file.rejected] == ["no prediction: it expired"]
    else:
        assert {id: one.question for id, one in file.predictions.items()} == QUESTIONS
        assert not file.rejected


def test_fields_that_are_named(tmp_path: Path) -> None:
    rows = [{"qid": id, "out": {"text": text}, "asked": QUESTIONS[id]} for id, text in SAID.items()]
    path = lines(tmp_path / "own.jsonl", rows)
    by_id = read_predictions(path, shape=prediction_shape(prediction="out.text", id="qid"))
    assert {id: one.text for id, one in by_id.predictions.items()} == SAID
    ids = QuestionIds.of(tiered())
    joined = read_predictions(path, by_question=ids, shape=prediction_shape(prediction="out.text", question="asked"))
    assert {id: one.text for id, one in joined.predictions.items()} == SAID
    with pytest.raises(PredictionError, match="no value under output"):
        read_predictions(path, shape=prediction_shape(prediction="output"))
    with pytest.raises(PredictionError, match=", ".join(PREDICTION_PRESETS)):
        prediction_shape("lm-evaluation")


def level(text: str) -> dict[str, Any]:
    return {"tiers": [{"text": text}]}


def tiered() -> list[TieredRow]:
    return [
        TieredRow(id=id, question=question, answers=("Paris",), levels=(Level(tiers=(Tier(text="Paris"),)),))
        for id, question in QUESTIONS.items()
    ]


def test_predictions_that_are_exchanged_are_told(tmp_path: Path) -> None:
    rows = [{"id": id, "prediction": "x", "question": QUESTIONS[other]} for id, other in (("a", "b"), ("b", "b"))]
    assert count_other_questions(read_predictions(lines(tmp_path / "p.jsonl", rows)), tiered()) == (1, 2)


def test_the_commands_take_fields(tmp_path: Path) -> None:
    matched = lines(tmp_path / "rows.jsonl", [{"output": {"text": "Paris"}, "answers": ["Paris"]}])
    out = tmp_path / "matched.jsonl"
    Match(file=str(matched), out=str(out), prediction_field="output.text").run()
    assert json.loads(out.read_text())["level"] == 1
    rows = [
        {"schema_version": 1, "id": id, "question": QUESTIONS[id], "answer": [text], "levels": [level(text)]}
        for id, text in (("a", "Paris"), ("b", "Italy"))
    ]
    ladders = lines(tmp_path / "tiers.jsonl", rows)
    said = str(batch(tmp_path / "o.jsonl"))
    Score(tiered=str(ladders), predictions=said, out=tmp_path / "items.jsonl", preset="openai-batch").run()
    items = map(json.loads, (tmp_path / "items.jsonl").read_text().splitlines())
    assert [item["status"] for item in items] == ["matched", "matched"]
