"""What the service answers: every route, ladders, links, verdicts, scores, pages, and wrong requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

import requests
from measuring import rows_of, serving
from recording.recorder import Recorder

_HEADERS = ("content-type", "granola-snapshot", "allow", "retry-after", "content-security-policy")
_LEVELS = [["Honolulu"], ["Hawaii"], ["United States", "USA"]]
_ASKED = {"question": "Where was he born?", "answer": ["Ulm"]}
_WRONG = (
    ("ladder", "{"), ("ladder", []), ("ladder", {"question": "Where?"}), ("ladder", {"question": 1, "answer": ["x"]}),
    ("ladder", {**_ASKED, "language": "xx"}), ("ladder", {**_ASKED, "linker": "best"}),
    ("ladder", {**_ASKED, "phrase": "free"}), ("ladder", b'{"question": "\xff", "answer": ["Ulm"]}'), ("link", {}),
    ("match", {"predictions": ["x"]}), ("match", {"predictions": [], "levels": [["x"]]}),
    ("match", {"predictions": ["x"], "levels": [["x"]], "matcher": "judge"}),
    ("score", {"rows": [], "predictions": []}),
    ("score", {"rows": [{"id": "1"}], "predictions": [{"id": "1", "prediction": "x"}]}),
    ("aggregate", {"question": "Where?", "samples": []}),
    ("aggregate", {"question": "Where?", "samples": ["x"], "support": 2}),
    ("ladders?relation=X1", ""), ("ladders?strange=1", ""),
)  # fmt: skip
_READ = (
    "/docs", "/v1/openapi.json", "/v1/health/live", "/v1/health/ready", "/v1/snapshot", "/v1/entity/Q76",
    "/v1/entity/Q18094", "/v1/entity/Q937", "/v1/entity/P19", "/v1/ladder", "/v1/nothing", "/v1/entity/Q999999999",
    "/v1/entity/x", "/v1/search",
)  # fmt: skip

Request = tuple[str, Any]


def record_service(recorder: Recorder) -> None:
    """Answers of a service on the bundled sample: status, headers that say something, and body."""
    recorder.run("building: snapshot build DEMO/wikidata.json --out demo.sqlite")
    questions = list(rows_of(recorder.places["DEMO"] / "questions.jsonl"))
    with serving(recorder.folder / "demo.sqlite", program=recorder.program) as service:
        made = [_asked(service.address, one) for one in _ladder_requests(questions)]
        tiered = [one["body"] for one in made[: len(questions)] if one["status"] == 200]
        recorder.write("ladders.jsonl", made)
        for name, asked in (
            ("judging", _judging_requests(recorder, tiered)), ("reading", _reading_requests()), ("wrong", _WRONG)
        ):  # fmt: skip
            recorder.write(f"{name}.jsonl", (_asked(service.address, one) for one in asked))


def _ladder_requests(questions: list[dict[str, Any]]) -> Iterator[Request]:
    asked = [{"id": one["id"], "question": one["question"], "answer": one["answer"]} for one in questions]
    yield from (("ladder", row) for row in questions)
    for number, row in enumerate(asked[::4]):
        yield "ladder", {**row, "language": ("de", "fr", "es")[number % 3]}
    for row in asked[::6]:
        yield "link", row
        yield "link", {**row, "linker": "smallest"}
    batch = "\n".join([*map(json.dumps, asked[:20]), "{", '{"id": "x", "question": "Where?", "answer": []}'])
    yield from ((f"ladders{settings}", batch) for settings in ("", "?language=de", "?relation=P19", "?linker=smallest"))


def _judging_requests(recorder: Recorder, tiered: list[dict[str, Any]]) -> Iterator[Request]:
    demo = recorder.places["DEMO"]
    predictions = {row["id"]: row["prediction"] for row in rows_of(demo / "predictions-specific.jsonl")}
    for row in tiered[::4]:
        yield "match", {"predictions": [predictions[row["id"]], "I don't know."], "row": row}
    for matcher in ("rules", "f1", "em"):
        yield "match", {"predictions": ["in Hawaii", "Kenya", ""], "levels": _LEVELS, "matcher": matcher}
        rows = [{"id": row["id"], "prediction": predictions[row["id"]]} for row in tiered]
        yield "score", {"rows": tiered, "predictions": rows, "matcher": matcher, "resamples": 200}
    for row in islice(rows_of(demo / "samples.jsonl"), 12):
        yield "aggregate", row
        yield "aggregate", {**row, "method": "self-consistency"}


def _reading_requests() -> Iterator[Request]:
    asked = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
    pages = ({}, asked, {**asked, "language": "de"}, {**asked, "predictions": "Hawaii\nKenya"}, {"answer": "x"})
    yield from ((f"/?{urlencode(query)}", None) for query in pages)
    yield from ((path, None) for path in _READ)
    for name in ("Honolulu", "Portland", "Zürich", "nobody of that name"):
        yield f"/v1/search?name={quote(name)}", None


def _asked(address: str, request: Request) -> dict[str, Any]:
    """A path is read; the name of a route of /v1 is sent what stands beside it, JSON unless it is text or bytes."""
    path, sent = request
    if path.startswith("/"):
        answer = requests.get(f"{address}{path}", timeout=120)
    else:
        body = sent if isinstance(sent, str | bytes) else json.dumps(sent, ensure_ascii=False)
        data = body.encode() if isinstance(body, str) else body
        headers = {"Content-Type": "application/json"}
        answer = requests.post(f"{address}/v1/{path}", data=data, headers=headers, timeout=120)
    kept = {name: value for name in _HEADERS if (value := answer.headers.get(name)) is not None}
    text = answer.content.decode("utf-8", "replace").replace(address, "ADDRESS")
    told: Any = text.splitlines()
    if "json" in (kind := kept.get("content-type", "")):
        told = list(map(json.loads, told)) if "ndjson" in kind else json.loads(text)
    return {"request": path, "status": answer.status_code, "headers": kept, "body": told}
