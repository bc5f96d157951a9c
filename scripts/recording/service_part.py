"""What the service answers: every route, ladders, links, verdicts, scores, pages, and wrong requests."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from recording.recorder import Recorder, lines

_HEADERS = ("content-type", "granola-snapshot", "allow", "retry-after", "content-security-policy")
_LEVELS = [["Honolulu"], ["Hawaii"], ["United States", "USA"]]
_WRONG = (
    ("POST", "/v1/ladder", b"{"),
    ("POST", "/v1/ladder", b"[]"),
    ("POST", "/v1/ladder", b'{"question": "Where?"}'),
    ("POST", "/v1/ladder", b'{"question": 1, "answer": ["x"]}'),
    ("POST", "/v1/ladder", b'{"question": "Where was he born?", "answer": ["Ulm"], "language": "xx"}'),
    ("POST", "/v1/ladder", b'{"question": "Where was he born?", "answer": ["Ulm"], "linker": "best"}'),
    ("POST", "/v1/ladder", b'{"question": "Where was he born?", "answer": ["Ulm"], "phrase": "free"}'),
    ("POST", "/v1/ladder", b'{"question": "\xff", "answer": ["Ulm"]}'),
    ("POST", "/v1/link", b"{}"),
    ("POST", "/v1/match", b'{"predictions": ["x"]}'),
    ("POST", "/v1/match", b'{"predictions": [], "levels": [["x"]]}'),
    ("POST", "/v1/match", b'{"predictions": ["x"], "levels": [["x"]], "matcher": "judge"}'),
    ("POST", "/v1/score", b'{"rows": [], "predictions": []}'),
    ("POST", "/v1/score", b'{"rows": [{"id": "1"}], "predictions": [{"id": "1", "prediction": "x"}]}'),
    ("POST", "/v1/aggregate", b'{"question": "Where?", "samples": []}'),
    ("POST", "/v1/aggregate", b'{"question": "Where?", "samples": ["x"], "support": 2}'),
    ("POST", "/v1/attribution/check", b'{"row": {}}'),
    ("POST", "/v1/ladders?relation=X1", b""),
    ("POST", "/v1/ladders?strange=1", b""),
    ("GET", "/v1/ladder", None),
    ("GET", "/v1/nothing", None),
    ("GET", "/v1/entity/Q999999999", None),
    ("GET", "/v1/entity/x", None),
    ("GET", "/v1/search", None),
    ("DELETE", "/v1/match", None),
)

Request = tuple[str, str, bytes | None]


def record_service(recorder: Recorder) -> None:
    """Answers of a service on the bundled sample: status, headers that say something, and body."""
    questions = list(lines(recorder.demo / "questions.jsonl"))
    with _served(recorder) as address:
        made = [_asked(address, one) for one in _ladder_requests(questions)]
        tiered = [one["body"] for one in made[: len(questions)] if one["status"] == 200]
        _write(recorder.folder / "ladders.json", made)
        for name, requests in (
            ("judging", _judging_requests(recorder, tiered)),
            ("reading", _reading_requests()),
            ("wrong", _WRONG),
        ):
            _write(recorder.folder / f"{name}.json", [_asked(address, one) for one in requests])


def _ladder_requests(questions: list[dict[str, Any]]) -> Iterator[Request]:
    asked = [{"id": one["id"], "question": one["question"], "answer": one["answer"]} for one in questions]
    for row in questions:
        yield _post("/v1/ladder", row)
    for number, row in enumerate(asked[::4]):
        yield _post("/v1/ladder", {**row, "language": ("de", "fr", "es")[number % 3]})
    for row in asked[::6]:
        yield _post("/v1/link", row)
        yield _post("/v1/link", {**row, "linker": "smallest"})
    batch = "\n".join([*map(json.dumps, asked[:20]), "{", '{"id": "x", "question": "Where?", "answer": []}'])
    for settings in ("", "?language=de", "?relation=P19", "?linker=smallest"):
        yield "POST", f"/v1/ladders{settings}", batch.encode()


def _judging_requests(recorder: Recorder, tiered: list[dict[str, Any]]) -> Iterator[Request]:
    predictions = {row["id"]: row["prediction"] for row in lines(recorder.demo / "predictions-specific.jsonl")}
    for row in tiered[::4]:
        yield _post("/v1/match", {"predictions": [predictions[row["id"]], "I don't know."], "row": row})
        yield _post("/v1/attribution/check", {"row": row})
    for matcher in ("rules", "f1", "em"):
        yield _post("/v1/match", {"predictions": ["in Hawaii", "Kenya", ""], "levels": _LEVELS, "matcher": matcher})
        rows = [{"id": row["id"], "prediction": predictions[row["id"]]} for row in tiered]
        yield _post("/v1/score", {"rows": tiered, "predictions": rows, "matcher": matcher, "resamples": 200})
    for row in islice(lines(recorder.demo / "samples.jsonl"), 12):
        yield _post("/v1/aggregate", row)
        yield _post("/v1/aggregate", {**row, "method": "self-consistency"})


def _reading_requests() -> Iterator[Request]:
    question = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
    pages = [
        {},
        question,
        {**question, "language": "de"},
        {**question, "predictions": "Hawaii\nKenya"},
        {"answer": "x"},
    ]
    for query in pages:
        yield "GET", f"/?{urlencode(query)}", None
    for path in ("/docs", "/v1/openapi.json", "/v1/health/live", "/v1/health/ready", "/v1/snapshot"):
        yield "GET", path, None
    for entity in ("Q76", "Q18094", "Q937", "P19"):
        yield "GET", f"/v1/entity/{entity}", None
    for name in ("Honolulu", "Portland", "Zürich", "nobody of that name"):
        yield "GET", f"/v1/search?name={quote(name)}", None


def _post(path: str, body: Any) -> Request:
    return "POST", path, json.dumps(body, ensure_ascii=False).encode()


def _asked(address: str, request: Request) -> dict[str, Any]:
    method, path, sent = request
    connection = http.client.HTTPConnection(address, timeout=120)
    headers = {} if sent is None else {"Content-Type": "application/json"}
    connection.request(method, path, sent, headers)
    answer = connection.getresponse()
    said = answer.read().decode("utf-8", "replace").replace(address, "ADDRESS")
    connection.close()
    kept = {name: value for name in _HEADERS if (value := answer.headers.get(name)) is not None}
    return {
        "request": f"{method} {path}",
        "status": answer.status,
        "headers": kept,
        "body": _readable(said, kept.get("content-type", "")),
    }


def _readable(body: str, media_type: str) -> Any:
    """A body as values, or as lines, for `diff` to tell where it differs."""
    if "ndjson" in media_type:
        return [json.loads(line) for line in body.splitlines()]
    return json.loads(body) if "json" in media_type else body.splitlines()


def _write(path: Path, answers: list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(answers, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@contextmanager
def _served(recorder: Recorder) -> Iterator[str]:
    """The address of a service that runs until the block ends."""
    recorder.folder.mkdir(parents=True, exist_ok=True)
    command = recorder.command("serve", "--demo", "--port", "0")
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as told:
        log = Path(told.name)
        settings: dict[str, Any] = {"cwd": recorder.folder, "env": recorder.environment()}
        with log.open("w") as out, subprocess.Popen(command, stderr=out, **settings) as process:
            try:
                yield _address(process, log)
            finally:
                process.terminate()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + 120
    while (found := re.search(r"http://([\d.]+:\d+)", log.read_text(encoding="utf-8"))) is None:
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"the service does not start: {log.read_text(encoding='utf-8')}")
        time.sleep(0.1)
    return found[1]
