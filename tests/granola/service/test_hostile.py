"""What is sent by whoever means harm: no text fails, no small body takes long, all answers have the same headers."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

from granola import __version__
from granola.service import limits
from granola.service.problems import HTTPProblem
from tests.granola.service.conftest import OBAMA, Running, limited, received, sent
from tests.granola.service.sent_requests import BODIES, ROW

pytestmark = pytest.mark.thorough("granola/service")


@pytest.mark.parametrize("path", BODIES)
def test_other_encodings_than_utf_8_are_refused(service: Running, path: str) -> None:
    for encoding in ("utf-16", "utf-16-be", "utf-32", "utf-8-sig"):
        data = json.dumps(BODIES[path]).encode(encoding)
        headers = {"Content-Type": "application/json"}
        got = requests.post(service.address + path, data=data, headers=headers, timeout=30)
        if encoding == "utf-8-sig":
            assert got.status_code == 200
        elif path == "/v1/ladders":  # whose lines are read one by one
            assert all("rejected" in line for line in got.text.splitlines())
        else:
            assert (got.status_code, got.json()["code"]) == (400, "json")


@pytest.mark.parametrize("text", ["%ED%A0%80", "%FF", "%00", "%ED%A0%80" * 100, "\\ud800"])
def test_no_text_in_an_address_makes_a_request_fail(service: Running, text: str) -> None:
    paths = ("/", "/v1/", "/v1/entity/", "/v1/search?name=", "/v1/search?name=x&language=", "/v1/entity/Q76?language=",
             "/v1/ladders?language=", "/v1/ladders?relation=", "/v1/ladders?", "/?question=x&answer=", "/?question=",
             "/?question=x&answer=y&predictions=", "/?question=x&answer=y&language=", "/?question=x&answer=y&subject=",
             "/?question=x&answer=y&relation=", "/?question=x&answer=y&answer_qid=")  # fmt: skip
    for path in paths:
        for method in ("GET", "HEAD", "POST"):
            got = requests.request(method, service.address + path + text, json=OBAMA, timeout=30)
            assert got.status_code < 500, (method, path)


NAMES = [f"Barack Obama {number}" for number in range(1_000)]
LONG = "s" * 30_000
HEAVY: dict[str, tuple[str, Any, tuple[int, str]]] = {
    "names of a row": ("/v1/match", {"predictions": ["x"], "row": {**ROW, "answer": [LONG], "levels": [
        {"tiers": [{"text": LONG}]}]}}, (422, "row")),
    "question of a row": ("/v1/match", {"predictions": ["x"], "row": {**ROW, "question": LONG}}, (422, "row")),
    "levels of a row": ("/v1/match", {"predictions": ["x"], "row": {**ROW, "levels": 21 * ROW["levels"]}},
                        (422, "row")),
    "predictions x names": ("/v1/match", {"predictions": NAMES, "levels": [NAMES]}, (413, limits.CODE)),
    "predictions x names of a row": ("/v1/match", {"predictions": NAMES, "row": {**ROW, "levels": [
        {"tiers": [{"text": "x", "aliases": NAMES[2:]}]}]}}, (413, limits.CODE)),
    "resamples x relations": ("/v1/score", {"resamples": 10_000, "rows": [
        {"id": str(n), "question": "?", "answer": ["x"], "levels": [["x"]], "relation": f"P{n + 1}",
         "granola_answer_1": "x"} for n in range(400)],
        "predictions": [{"id": str(n), "prediction": "x"} for n in range(400)]}, (413, limits.CODE)),
    "answers of a batch": ("/v1/ladders", [{"question": "?", "answer": ["London"] * 100} for _ in range(60)],
                           (413, limits.CODE)),
    "relations of a batch": ("/v1/ladders", [{**OBAMA, "relation": f"P{n + 1}"} for n in range(200)],
                             (413, limits.CODE)),
    "answers": ("/v1/ladder", {"question": "?", "answer": ["x" * 4_000] * 60}, (413, limits.CODE)),
    "answers by another name": ("/v1/ladder", {"question": "?", "possible_answers": ["x"] * 101}, (422, "row")),
    "samples": ("/v1/aggregate", {"question": "?", "samples": ["x" * 4_000] * 60}, (413, limits.CODE)),
    "subject": ("/v1/ladder", {**OBAMA, "question_entity": "x" * 4_001}, (422, "row")),
}  # fmt: skip


@pytest.mark.parametrize("what", HEAVY)
def test_sizes_and_their_products_are_bounded_before_work_begins(service: Running, what: str) -> None:
    path, body, (status, code) = HEAVY[what]
    began = time.monotonic()
    got = requests.post(service.address + path, json=body, timeout=30)
    assert (got.status_code, got.json()["code"]) == (status, code), got.text[:300]
    assert time.monotonic() - began < 15  # the work itself would take minutes
    if code == limits.CODE:
        assert got.json()["given"] > got.json()["most"]
        assert f"{got.json()['most']:,}" in got.json()["detail"]


def test_what_may_be_compared_grows_with_what_is_sent() -> None:
    limits.check_comparisons([([13] * 170, [16] * 127)])
    with pytest.raises(HTTPProblem, match="fewer predictions at a time"):
        limits.check_comparisons([([13] * 180, [16] * 130)])
    limits.check_comparisons(([200], [20] * 30) for _ in range(2_000))  # a large file
    limits.check_resamples(1_000, 30, 100)
    limits.check_resamples(1_000, 400, 10_000)
    for drawn in ((10_000, 7, 10), (10_000, 51, 10_000)):
        with pytest.raises(HTTPProblem, match="set resamples lower"):
            limits.check_resamples(*drawn)
    limits.check_batch(1_000, 60, 0)
    limits.check_batch(1_001, 61, 1 << 17)
    for answers, relations in ((1_001, 1), (1, 61)):
        with pytest.raises(HTTPProblem, match="send several requests"):
            limits.check_batch(answers, relations, 1 << 12)


HEADERS = {"granola-version": __version__, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}


def test_every_answer_of_the_application_has_the_same_headers(demo_snapshot: Path) -> None:
    with limited(demo_snapshot, body=1_000) as service:
        browser = {"Accept": "text/html"}
        asked: list[tuple[str, str, dict[str, str], bytes]] = [
            ("GET", "/", {}, b""), ("GET", "/nowhere", browser, b""), ("GET", "/nowhere", {}, b""),
            ("POST", "/", browser, b""), ("GET", "/v1/nowhere", {}, b""), ("GET", "/page.css", {}, b""),
            ("GET", "/v1/snapshot", {}, b""),
            ("POST", "/v1/ladder", {}, b"{"), ("POST", "/v1/ladder", {}, b"x" * 2_000),
            ("GET", "/v1/health/live", {}, b""), ("GET", "/", {"Host": "127.0.0.1"}, b""),
        ]  # fmt: skip
        seen = set()
        for method, path, headers, data in asked:
            got = requests.request(
                method, service.address + path, headers=headers, data=data, allow_redirects=False, timeout=20
            )
            seen.add(got.status_code)
            assert {name: got.headers.get(name) for name in HEADERS} == HEADERS, path
            assert "frame-ancestors 'none'" in got.headers["content-security-policy"], path
            assert got.headers["x-request-id"]
        assert seen >= {200, 404, 405, 413, 415}


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-1.2_Z", True), ("a b", False), ("x" * 65, False), ("a\tb", False), ("é", False), ("", False)],
)
def test_an_id_comes_back_where_it_is_one(service: Running, given: str, kept: bool) -> None:
    data = f"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: {given}\r\nConnection: close\r\n\r\n"
    with closing(sent(service, data.encode("latin-1"))) as connection:
        head = received(connection).partition(b"\r\n\r\n")[0].decode()
    (told,) = [line.partition(": ")[2] for line in head.splitlines() if line.lower().startswith("x-request-id")]
    assert (told == given) == kept
    assert 1 <= len(told) <= 64
