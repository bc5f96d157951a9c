"""A provider's batch API by file: what is written answers what is read back, and nothing is asked twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abstraction.errors import ModelError, ModelSpecError
from granola.commands.answer import Answer
from granola.commands.attribution import AttributionEvaluate
from granola.commands.score import Match
from granola.decoding.decision import Answering
from granola.errors import BatchWritten, UsageError
from tests.chat_server import answer_to, serving

ADDRESS = "openai:http://127.0.0.1:1/v1?temperature=.7"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = [{"id": str(at), "question": f"Who wrote book {at}?"} for at in range(4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def asked(questions: Path, out: Path, model: str = "", **files: Path) -> Answer:
    model = model or "&".join([ADDRESS, *(f"batch_{name}={file}" for name, file in files.items())]) + "#m"
    settings: dict[str, Any] = {"model": model, "method": Answering.SELF_CONSISTENCY, "samples": 3}
    return Answer(questions=(str(questions),), out=str(out), **settings)


def results(requests: Path, *, failing: int = -1) -> list[dict[str, Any]]:
    """What a provider makes of a file of requests, in another order."""
    lines = []
    for number, text in enumerate(requests.read_text(encoding="utf-8").splitlines()):
        line = json.loads(text)
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        body = line["body"]
        texts = [answer_to(body["messages"], body["seed"] + at) for at in range(body.get("n", 1))]
        choices = [
            {"index": at, "message": {"content": text}, "finish_reason": "stop"} for at, text in enumerate(texts)
        ]
        response: dict[str, Any] = {"status_code": 200, "body": {"choices": choices[::-1]}}
        if number == failing:
            response = {"status_code": 400, "body": {"error": {"message": "too long, says the provider"}}}
        lines.append({"custom_id": line["custom_id"], "response": response, "error": None})
    return lines[::-1]


def written(lines: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_written_and_read_back_it_is_what_a_server_answers(questions: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "out.jsonl", tmp_path / "batch.jsonl"
    with pytest.raises(BatchWritten, match=r"4 requests written to .*batch\.jsonl.*batch_results=RESULTS"):
        asked(questions, out, file=file).run()
    assert not out.exists()
    given = written(results(file), tmp_path / "results.jsonl")
    asked(questions, out, results=given).run()
    with serving() as (url, _):
        online = tmp_path / "online.jsonl"
        asked(questions, online, model=f"openai:{url}?temperature=.7#m").run()
    assert out.read_bytes() == online.read_bytes()


def test_what_lacks_is_written_again_or_asked_for(questions: Path, tmp_path: Path) -> None:
    out, file, again = tmp_path / "out.jsonl", tmp_path / "batch.jsonl", tmp_path / "again.jsonl"
    assert asked(questions, out, file=file).execute() == 0
    lines = results(file, failing=2)
    lines[0]["response"]["body"]["choices"].pop(0)  # two of three
    given = written(lines, tmp_path / "results.jsonl")
    with pytest.raises(BatchWritten, match="2 requests written"):
        asked(questions, out, results=given, file=again).run()
    told = [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()]
    assert sorted(line["body"].get("n", 1) for line in told) == [1, 3]
    asked(questions, out, results=written(results(again), tmp_path / "more.jsonl")).run()
    assert len(out.read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.parametrize("response", ["oops", {"status_code": 200, "body": {"choices": [{"index": 0}]}}])
def test_a_damaged_result_is_counted_and_asked_again(questions: Path, tmp_path: Path, response: Any) -> None:
    out, file = tmp_path / "out.jsonl", tmp_path / "batch.jsonl"
    assert asked(questions, out, file=file).execute() == 0
    lines = results(file)
    lines[0]["response"] = response
    with pytest.raises(BatchWritten, match="1 request written"):
        asked(questions, out, results=written(lines, tmp_path / "results.jsonl"), file=tmp_path / "again.jsonl").run()


def test_what_is_no_file_of_results_is_told(questions: Path, tmp_path: Path) -> None:
    given = written([{"custom_id": "mine", "response": None}], tmp_path / "results.jsonl")
    with pytest.raises(ModelError, match="line 1: no result of a request that batch_file= wrote"):
        asked(questions, tmp_path / "out.jsonl", results=given).run()
    with pytest.raises(UsageError, match="is also an input"):
        asked(questions, tmp_path / "out.jsonl", file=questions).run()
    assert asked(questions, tmp_path / "out.jsonl", file=tmp_path / "batch.jsonl").execute() == 0
    others = written(results(tmp_path / "batch.jsonl"), tmp_path / "others.jsonl")
    with pytest.raises(ModelError, match="line 1: written for another model"):
        asked(questions, tmp_path / "out.jsonl", model=f"{ADDRESS}&batch_results={others}#another").run()
    with pytest.raises(UsageError, match=r"batch_file: .*give --out FILE, or answers=FILE"):
        Match(file=str(questions), matcher=f"judge:{ADDRESS}&batch_file=b.jsonl#m").run()
    replay = written([{"prompt": "x", "answers": ["y"]}], tmp_path / "replay.jsonl")
    with pytest.raises(ModelSpecError, match="replay: batch_file is no setting"):
        asked(questions, tmp_path / "out.jsonl", model=f"replay:{replay}?batch_file=b.jsonl").run()


@pytest.mark.parametrize("kind", ["judge", "evaluator"])
def test_every_command_that_asks_a_chat_model_can_write_its_requests(kind: str, tmp_path: Path) -> None:
    rows = [
        {"id": name, "question": "Where?", "prediction": name, "levels": [[name], ["Germany"]], "statement": name,
         "citations": ["It lies in Germany."], "category": "supportive"}
        for name in ("Ulm", "Bonn", "Jena")
    ]  # fmt: skip
    given, file = written(rows, tmp_path / "rows.jsonl"), tmp_path / "batch.jsonl"
    model = f"{ADDRESS}&batch_file={file}&answers={tmp_path / 'kept.sqlite'}#m"
    command: Match | AttributionEvaluate = (
        Match(file=str(given), matcher=f"judge:{model}", out=str(tmp_path / "out.jsonl"))
        if kind == "judge"
        else AttributionEvaluate(samples=given, evaluator=(f"defined={model}",))
    )
    with pytest.raises(BatchWritten, match="3 requests"):
        command.run()
    assert {json.loads(line)["body"]["temperature"] for line in file.read_text().splitlines()} == {0.7}
