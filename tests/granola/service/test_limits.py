"""Limits: what is too much or too slow is refused, and nothing else suffers."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests

from granola.service.problems import HTTPProblem
from granola.service.snapshots import WorkContext, WorkThread
from tests.command_line import COMMAND
from tests.granola.service.conftest import (
    OBAMA,
    Running,
    batch,
    is_well,
    limited,
    received,
    sent,
    serving,
    session_of,
)

pytestmark = pytest.mark.thorough("granola/service")


@pytest.fixture(scope="module")
def strict(demo_snapshot: Path) -> Iterator[Running]:
    """A service with narrow limits."""
    with limited(demo_snapshot, body=200_000, buffered=400_000, rows=1_500, batches=2) as running:
        yield running


def test_a_large_body_is_refused_before_it_is_read(strict: Running) -> None:
    with closing(
        sent(strict, b"POST /v1/ladders HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
    ) as connection:
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"body-size" in answer
    got = requests.post(f"{strict.address}/v1/ladders", data=b"x" * 100_000_000, timeout=20)
    assert got.status_code == 413
    chunked = requests.post(f"{strict.address}/v1/ladders", data=iter([b"x" * 50_000] * 40), timeout=20)
    assert chunked.status_code == 413
    assert is_well(strict)


def test_too_many_rows_are_refused(strict: Running) -> None:
    short = b"\n".join(b'{"question":"?","answer":"x"}' for _ in range(1_501))
    got = requests.post(f"{strict.address}/v1/ladders", data=short, timeout=20)
    assert (got.status_code, got.json()["code"], got.json()["most"]) == (413, "too-many-rows", 1_500)


def test_a_body_that_trickles_is_not_waited_for(demo_snapshot: Path) -> None:
    begun = b"POST /v1/ladder HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    with limited(demo_snapshot, body_seconds=1) as service, closing(sent(service, begun)) as connection:
        assert received(connection).startswith(b"HTTP/1.1 408 ")


def test_what_there_is_no_room_or_no_time_for_may_be_sent_again(demo_snapshot: Path) -> None:
    for limits, code in (({"waiting": 0}, "overloaded"), ({"seconds": 0.000_001}, "time-limit")):
        with limited(demo_snapshot, **limits) as service:
            got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=20)
            assert (got.status_code, got.json()["code"], "Retry-After" in got.headers) == (503, code, True)
            assert requests.get(f"{service.address}/v1/health/live", timeout=20).status_code == 200
            figures = requests.get(f"{service.address}/v1/metrics", timeout=20).text
            assert f'granola_refused_total{{code="{code}"}} 1.0' in figures
    with limited(demo_snapshot, batch_seconds=0.000_001) as service:
        got = requests.post(f"{service.address}/v1/ladders", data=batch(10_000), timeout=60)
        assert "time-limit" in got.text
        assert is_well(service)


def test_work_that_nobody_waits_for_any_more_is_dropped_before_it_begins() -> None:
    begun, may_end, done = threading.Event(), threading.Event(), []

    def first(_: WorkContext) -> None:
        begun.set()
        may_end.wait(60)

    def other(number: int) -> Callable[[WorkContext], None]:
        body = bytearray(1_000)
        return lambda _: done.append((number, len(body)))

    async def ask() -> None:
        room = WorkThread("room", WorkContext, most=10)
        works = [other(number) for number in range(9)]
        kept = [weakref.ref(work) for work in works]
        asking = [asyncio.create_task(room.run(work, seconds=60)) for work in [first, *works]]
        await asyncio.to_thread(begun.wait, 60)
        with pytest.raises(HTTPProblem, match="too many requests are waiting"):
            await room.run(first, seconds=60)
        for task in asking[:-1]:
            task.cancel()
        await asyncio.wait(asking[:-1])
        del works, task, asking[:-1]
        gc.collect()
        assert [work() is not None for work in kept] == [False] * 8 + [True]
        assert room.waiting == 1
        may_end.set()
        await asking[0]
        assert done == [(8, 1_000)]
        with pytest.raises(HTTPProblem, match="no answer within"):
            await room.run(lambda _: time.sleep(0.1), seconds=0.001)
        assert await room.run(lambda _: 1, seconds=60) == 1
        room.close()

    asyncio.run(ask())


def test_bodies_have_no_more_bytes_and_values_than_they_need(service: Running) -> None:
    for path, body, code in (
        ("/v1/ladder", b'{"question": "?", "answer": "' + b"x" * 2**20 + b'"}', "body-size"),
        ("/v1/score", b'{"rows": [' + b"[]," * 1_300_000 + b"[]]}", "too-many-values"),
        ("/v1/ladders", b"[" + b"[]," * 1_300_000 + b"[]]", "too-many-values"),
        ("/v1/ladders", b'{"question":"?","answer":"x"}\n' * 100_000, "too-many-rows"),
    ):
        headers = {"Content-Type": "application/json"}
        got = requests.post(service.address + path, data=body, headers=headers, timeout=30)
        assert (got.status_code, got.json()["code"]) == (413, code)
        assert requests.get(f"{service.address}/v1/health/live", timeout=20).status_code == 200


def test_rows_of_a_batch_have_the_limits_of_single_ones(service: Running) -> None:
    rows = [
        OBAMA,
        {**OBAMA, "answer": ["x"] * 101},
        {**OBAMA, "question": "x" * 4_001},
        {**OBAMA, "answer": "x" * 4_001},
    ]
    got = requests.post(f"{service.address}/v1/ladders", json=rows, timeout=10)
    lines = [json.loads(line) for line in got.text.splitlines()]
    assert ["rejected" in line for line in lines] == [False, True, True, True]
    assert "answer has 101 parts; 100 are allowed" in lines[1]["rejected"]["reason"]
    said = [{"id": "1", "prediction": "x" * 4_001}, {"id": "2", "prediction": "x"}]
    asked = {"rows": [{**lines[0], "id": one["id"]} for one in said], "predictions": said, "allow_missing": True}
    scored = requests.post(f"{service.address}/v1/score", json=asked, timeout=10).json()
    assert "4,000 characters" in scored["rejected"][0]["reason"]


def test_the_first_language_stays_ready_and_words_are_read_once(demo_snapshot: Path) -> None:
    with closing(session_of(demo_snapshot)) as session:
        first = session.maker()
        others = [session.maker(code) for code in ("de", "fr", "es", "pl", "aaa", "en-xyz", "en-abc")]
        assert session.maker("en") is first
        assert all(other.vocabulary is first.vocabulary for other in others)
        assert session.maker("en-abc") is others[-1]
        assert session.maker("de") is not others[0]


def test_the_token_is_asked_for(demo_snapshot: Path) -> None:
    token = "a-secret-of-many-letters"
    with serving(demo_snapshot, "--host", "0.0.0.0", token=token) as service:
        address = service.address.replace("0.0.0.0", "127.0.0.1")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic !!!"}):
            got = requests.post(f"{address}/v1/ladder", json=OBAMA, headers=headers, timeout=10)
            assert (got.status_code, got.json()["code"]) == (401, "token")
            assert token not in got.text + str(got.headers)
            assert re.match('Basic realm="granola".*, Bearer realm=', got.headers["WWW-Authenticate"])  # for browsers
        bearer = {"Authorization": f"Bearer {token}"}
        assert requests.post(f"{address}/v1/ladder", json=OBAMA, headers=bearer, timeout=10).status_code == 200
        assert requests.get(f"{address}/v1/snapshot", auth=("anyone", token), timeout=10).status_code == 200
        assert requests.get(f"{address}/v1/health/ready", timeout=10).status_code == 200
        for path in ("/v1/metrics", "/v1/openapi.json", "/v1/x"):
            assert requests.get(address + path, timeout=10).status_code == 401
            assert token not in requests.get(address + path, headers=bearer, timeout=10).text


@pytest.mark.parametrize(
    ("options", "token", "said"),
    [
        (["--demo", "--host", "0.0.0.0"], None, "GRANOLA_TOKEN"),
        (["--demo", "--host", "::"], None, "--no-auth"),
        (["--demo"], "short", "8 or more"),
        ([], None, "--demo"),
        (["--snapshot", "nowhere.sqlite"], None, "nowhere.sqlite"),
    ],
)
def test_wrong_use_is_told(options: list[str], token: str | None, said: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "GRANOLA_TOKEN"}
    done = subprocess.run(
        [*COMMAND, "serve", "--port", "0", *options], capture_output=True, text=True, timeout=30,
        env=environment | ({"GRANOLA_TOKEN": token} if token else {}),
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
