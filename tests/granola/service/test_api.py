"""The interface: the same as the library and the command line, typed, with problems for errors."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from abstraction.files.rows import read_questions, read_tiered, write_tiered
from abstraction.maker.pipeline import make_ladders
from granola.decoding.aggregation_rules import DragGraph
from granola.decoding.decision import Abstaining
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from granola.matching import matcher
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import ScoreSettings, score
from kg.store import open_store
from tests.command_line import run_granola
from tests.granola.service.conftest import DEMO, Running

OBAMA = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
HOSTILE = "<script>alert(1)</script>\x00\x1b[31m‮&\"'{{7*7}}"


@pytest.fixture(scope="module")
def tiers(demo_snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled questions' ladders as the library makes them."""
    path = tmp_path_factory.mktemp("tiers") / "tiers.jsonl"
    with closing(open_store(demo_snapshot)) as store:
        write_tiered(make_ladders(read_questions([DEMO / "questions.jsonl"]), store), path)
    return path


def test_a_batch_gives_the_bytes_of_the_command_line(service: Running, tiers: Path, tmp_path: Path) -> None:
    out = tmp_path / "cli.jsonl"
    run_granola("tiers", DEMO / "questions.jsonl", "--snapshot", service.snapshot, "--out", out).check_returncode()
    body = (DEMO / "questions.jsonl").read_bytes()
    got = requests.post(f"{service.address}/v1/ladders", data=body, timeout=30)
    assert got.content == out.read_bytes() == tiers.read_bytes()
    array = json.dumps([json.loads(line) for line in body.splitlines()])
    assert requests.post(f"{service.address}/v1/ladders", data=array.encode(), timeout=30).content == got.content


def test_a_single_ladder_is_the_row_of_the_batch(service: Running, tiers: Path) -> None:
    questions = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text("utf-8").splitlines()]
    made = [json.loads(line) for line in tiers.read_text("utf-8").splitlines()]
    for question, row in zip(questions[:20], made, strict=False):
        got = requests.post(f"{service.address}/v1/ladder", json=question, timeout=10)
        assert {**got.json(), "id": row["id"]} == {**row, "schema_version": 1}


def test_answers_name_snapshot_and_version(service: Running) -> None:
    with closing(open_store(service.snapshot)) as store:
        expected = store.manifest()["snapshot_id"]
    for path in ("/v1/health/ready", "/v1/entity/Q76", "/v1/search?name=Honolulu", "/v1/snapshot"):
        assert requests.get(service.address + path, timeout=10).headers["Granola-Snapshot"] == expected
    got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10)
    assert got.headers["Granola-Snapshot"] == expected
    assert got.headers["Granola-Version"]


def test_bad_rows_are_rejected_in_their_places(service: Running) -> None:
    good = json.dumps(OBAMA)
    body = "\n".join(
        [good, "{no json", '{"question": "Who?"}', '{"question": "?", "answer": "x", "relation": "born"}', good]
    )
    got = requests.post(f"{service.address}/v1/ladders", data=body.encode(), timeout=10)
    lines = [json.loads(line) for line in got.text.splitlines()]
    assert [next(iter(line)) for line in lines] == ["schema_version", "rejected", "rejected", "rejected", "id"]
    assert lines[1]["rejected"]["source"] == "request:2"
    assert "no answer" in lines[2]["rejected"]["reason"]
    assert "no property id" in lines[3]["rejected"]["reason"]


def test_links_say_what_was_taken_and_how_surely(service: Running) -> None:
    got = requests.post(f"{service.address}/v1/link", json=OBAMA, timeout=10).json()
    (link,) = got["links"]
    assert link["qid"] == "Q18094"
    assert got["entities"]["Q18094"]["label"] == "Honolulu"
    nothing = requests.post(f"{service.address}/v1/link", json={**OBAMA, "answer": "Xyzzyville"}, timeout=10).json()
    assert nothing["abstained"] == "no-link"


def test_matches_are_those_of_the_library(service: Running) -> None:
    ladder = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10).json()
    said = ["Honolulu", "in Hawaii", "He was born in the USA.", "Kenya", "I don't know", ""]
    got = requests.post(f"{service.address}/v1/match", json={"row": ladder, "predictions": said}, timeout=10).json()
    rules = matcher("rules")
    names = [[n for t in level["tiers"] for n in (t["text"], *t["aliases"])] for level in ladder["levels"]]
    expected = [rules.match(one, names, OBAMA["question"]).level for one in said]
    assert [item["level"] for item in got["items"]] == expected
    assert expected[0] == 1
    assert expected[3] is None
    assert [item["status"] for item in got["items"]][-2:] == ["abstained", "abstained"]
    alone = {"levels": [["Honolulu"], ["Hawaii"]], "predictions": ["Hawaii"], "matcher": "em", "lambda": 1}
    (item,) = requests.post(f"{service.address}/v1/match", json=alone, timeout=10).json()["items"]
    assert (item["level"], round(item["weight"], 6)) == (2, 0.367879)


def test_scores_and_signature_are_those_of_the_library(service: Running, tiers: Path) -> None:
    predictions = DEMO / "predictions-cautious.jsonl"
    report = score(
        list(read_tiered(tiers)), read_predictions(predictions), matcher("rules"), system="cautious",
    )  # fmt: skip
    asked = {
        "rows": [json.loads(line) for line in tiers.read_text("utf-8").splitlines()],
        "predictions": [json.loads(line) for line in predictions.read_text("utf-8").splitlines()],
        "system": "cautious",
    }
    got = requests.post(f"{service.address}/v1/score", json=asked, timeout=30).json()
    assert got["signature"] == str(report.signature)
    assert got["items"] == [item.to_json() for item in report.items]
    assert {key: got[key] for key in report.to_json()} == json.loads(json.dumps(report.to_json()))
    # The names of level 1 and the prompts that the questions were asked with, as the command line has them.
    given = replace(read_predictions(predictions), asked="paper-1a2b3c4d")
    for standard in (None, "aliases", "gold"):
        report = score(
            list(read_tiered(tiers)), given, matcher("f1"), ScoreSettings(standard=standard), system="cautious"
        )  # type: ignore[arg-type]
        more = {"matcher": "f1", "standard": standard, "asked": "paper-1a2b3c4d"}
        got = requests.post(f"{service.address}/v1/score", json=asked | more, timeout=30).json()
        assert got["signature"] == str(report.signature)
        assert ("|standard:gold|" in got["signature"]) == (standard != "aliases")
        assert "|asked:paper-1a2b3c4d|" in got["signature"]
        assert got["items"] == [item.to_json() for item in report.items]
    asked["predictions"] = asked["predictions"][:3]
    refused = requests.post(f"{service.address}/v1/score", json=asked, timeout=30)
    assert (refused.status_code, refused.json()["code"]) == (422, "prediction")
    assert "have no prediction" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "Honolulu"),
        ({"support": 1}, "Hawaii"),
        ({"method": "self-consistency"}, "Honolulu"),
        ({"samples": ["I don't know", "no idea"]}, "IDK"),
    ],
)
def test_several_responses_make_one_answer(service: Running, settings: dict[str, object], expected: str) -> None:
    asked = {"question": OBAMA["question"], "samples": ["Honolulu", "Honolulu", "in Hawaii"], "note": 1, **settings}
    got = requests.post(f"{service.address}/v1/aggregate", json=asked, timeout=10).json()
    assert (got["prediction"], got["note"], got["samples"]) == (expected, 1, asked["samples"])
    assert got["explanation"]
    row = SampleRow(
        id="1", question=OBAMA["question"], samples=tuple(asked["samples"]), relation="P19", subject_text="Barack Obama"
    )  # type: ignore[arg-type]
    if asked.get("method") is None:
        with closing(open_store(service.snapshot)) as store:
            rule = Abstaining(str(asked.get("abstaining", "ignore")))
            method = DragGraph(support=float(str(asked.get("support", 0.6))), abstaining=rule)
            ((_, decision),) = Aggregator(store).decide([row], method)
        assert decision.to_json().items() <= got.items()


def test_entities_tell_what_holds_today(service: Running) -> None:
    got = requests.get(f"{service.address}/v1/entity/Q76?language=de", timeout=10).json()
    assert got["id"] == "Q76"
    assert got["labels"]["en"] == "Barack Obama"
    born = next(s for s in got["statements"] if s["property"] == "P569")
    assert (born["text"], born["current"], born["rank"]) == ("1961-08-04", True, "normal")
    ended = [s for s in got["statements"] if s.get("end")]
    assert not any(s["current"] for s in ended)
    missing = requests.get(f"{service.address}/v1/entity/Q999999999", timeout=10)
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown-entity")


def test_search_finds_names_and_aliases(service: Running) -> None:
    got = requests.get(f"{service.address}/v1/search", params={"name": "honolulu"}, timeout=10).json()
    assert [one["id"] for one in got["found"]][:1] == ["Q18094"]
    assert requests.get(f"{service.address}/v1/search?name=Xyzzyville", timeout=10).json()["found"] == []


BAD = [
    (b"", 400, "json"),
    (b"{", 400, "json"),
    (b'{"question": "\xff\xfe", "answer": "x"}', 400, "json"),
    (b"[" * 100_000 + b"]" * 100_000, 400, "json"),
    (b'{"question": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}", 400, "json"),
    (b'["a"]', 422, "request"),
    (b'{"question": "Who?", "answer": {}}', 422, "row"),
    (b'{"question": "Who?", "answer": []}', 422, "row"),
    (b'{"question": "Who?", "answer": "x", "relation": "born"}', 422, "row"),
    (b'{"question": "Who?", "answer": "x", "answer_qid": "Obama"}', 422, "row"),
    (b'{"question": "Who?", "answer": "x", "language": "../../etc"}', 422, "request"),
    (b'{"question": "Who?", "answer": "x", "linker": "best"}', 422, "request"),
    (b'{"question": "' + b"a" * 5_000 + b'", "answer": "x"}', 422, "row"),
    (b'{"question": "\\ud800", "answer": "x"}', 400, "json"),
    (b'{"question": "Who?", "answer": "x", "note": ["\\uDfff"]}', 400, "json"),
]


@pytest.mark.parametrize(("body", "status", "code"), BAD, ids=lambda one: repr(one)[:30])
def test_what_is_wrong_is_a_problem_with_a_code(service: Running, body: bytes, status: int, code: str) -> None:
    for path in ("/v1/ladder", "/v1/link"):
        headers = {"Content-Type": "application/json"}
        got = requests.post(service.address + path, data=body, headers=headers, timeout=10)
        assert (got.status_code, got.json()["code"]) == (status, code), got.text
        assert got.headers["Content-Type"] == "application/problem+json"
        assert got.json()["detail"]
    assert requests.get(f"{service.address}/v1/health/ready", timeout=10).status_code == 200


WRONG = [
    ({}, ["question is missing"]),
    ({"question": "  ", "answer": "x"}, ["is no question; expected a text"]),
    ({"question": "?", "answer": ["x", None]}, ["has None in it, which is no text"]),
    ({"question": "?", "answer": "x" * 4_001}, ["answer has 4,001 characters; 4,000 are allowed"]),
    ({"question": "?", "answer": "x", "language": "DE!"}, ["language is 'DE!'; expected a language's code, as en"]),
    ({"question": "?", "answer": "x", "linker": "best"}, ["linker is 'best'; expected 'question' or 'smallest'"]),
    ({"question": "?"}, ["no answer: expected a text or a list of texts"]),
    ([], ["the body is no JSON object"]),
]


@pytest.mark.parametrize(("body", "said"), WRONG, ids=lambda one: repr(one)[:30])
def test_what_was_given_and_what_is_allowed_is_told(service: Running, body: object, said: list[str]) -> None:
    got = requests.post(f"{service.address}/v1/ladder", json=body, timeout=10)
    assert got.status_code == 422
    for one in said:
        assert one in got.json()["detail"]
    assert "constrained" not in got.text
    assert got.headers["Granola-Snapshot"]


def test_foreign_fields_come_back_whatever_they_hold(service: Running) -> None:
    row = {**OBAMA, "id": "1", "large": 10**40, "escaped": "\\ud800", "pair": "\U0001f600", "nothing": None}
    kept = {key: row[key] for key in ("large", "escaped", "pair", "nothing")}
    one = requests.post(f"{service.address}/v1/ladder", json=row, timeout=10).json()
    (many,) = requests.post(f"{service.address}/v1/ladders", json=[row], timeout=10).text.splitlines()
    assert {key: one[key] for key in kept} == {key: json.loads(many)[key] for key in kept} == kept


@pytest.mark.parametrize("field", ["question", "answer", "question_entity", "id"])
def test_hostile_text_is_text(service: Running, field: str) -> None:
    got = requests.post(f"{service.address}/v1/ladder", json={**OBAMA, field: HOSTILE}, timeout=10)
    assert got.status_code == 200
    assert got.headers["Content-Type"] == "application/json"
    assert got.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "arguments",
    [("tiers", "QUESTIONS", "--out", "-", "--snapshot"), ("ladder", "Where was he born?", "Honolulu", "--snapshot"),
     ("snapshot", "info")],
)  # fmt: skip
def test_a_service_is_no_snapshot(arguments: tuple[str, ...]) -> None:
    given = [DEMO / "questions.jsonl" if one == "QUESTIONS" else one for one in arguments]
    done = run_granola(*given, "http://127.0.0.1:8080")
    assert done.returncode == 2
    assert "http://127.0.0.1:8080 is an address of the web; give a snapshot file" in done.stderr
    assert "a granola service takes questions at POST /v1/ladders" in done.stderr
