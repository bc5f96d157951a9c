"""Limits and faults: what is too much, too slow or cut off is refused or let go, and nothing else suffers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
import requests

from abstraction.pipeline import make_ladders
from abstraction.rows import read_questions
from granola.service.work import line_of
from kg.snapshot import build
from kg.store import open_store
from tests.granola.service.conftest import DEMO, ROOT, Running, limited, serving

OBAMA = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
QUESTIONS = (DEMO / "questions.jsonl").read_bytes()


def sent(service: Running, data: bytes) -> socket.socket:
    """A connection on which these bytes were sent."""
    connection = socket.create_connection(service.place, timeout=20)
    connection.sendall(data)
    return connection


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def is_well(service: Running) -> bool:
    got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10)
    return got.status_code == 200 and len(got.json()["levels"]) > 2


def batch(rows: int) -> bytes:
    lines = (json.dumps({**OBAMA, "id": str(number)}) for number in range(rows))
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def strict(demo_snapshot: Path) -> Iterator[Running]:
    """A service with narrow limits."""
    with limited(
        demo_snapshot, body=200_000, buffered=400_000, rows=1_500, batches=2, connections=24,
        head_bytes=4_000, head_seconds=0.4, body_seconds=0.6, write_seconds=0.6, idle_seconds=1,
    ) as running:  # fmt: skip
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


def test_a_head_that_does_not_come_or_end_is_not_waited_for(strict: Running) -> None:
    for start, answered in ((b"", b""), (b"POST /v1/ladder HTTP/1.1\r\nHost: ", b"HTTP/1.1 408 ")):
        with closing(sent(strict, start)) as connection:
            assert received(connection).startswith(answered)
    with closing(sent(strict, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 1_000)) as connection:
        assert received(connection).startswith(b"HTTP/1.1 431 ")
    with closing(sent(strict, b"\x16\x03\x01 no http \r\n\r\n")) as connection:
        assert received(connection).startswith(b"HTTP/1.1 400 ")
    assert is_well(strict)


def test_a_body_that_trickles_is_not_waited_for(strict: Running) -> None:
    with closing(sent(strict, b"POST /v1/ladder HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")) as connection:
        assert received(connection).startswith(b"HTTP/1.1 408 ")


def test_connections_over_the_limit_are_told_to_come_back(strict: Running) -> None:
    held = [sent(strict, b"GET / HT") for _ in range(24)]
    with closing(sent(strict, b"GET /v1/health/live HTTP/1.1\r\nHost: x\r\n\r\n")) as connection:
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: " in answer
    for one in held:
        assert received(one).startswith(b"HTTP/1.1 408 ")
        one.close()
    assert is_well(strict)


def test_connections_that_ask_nothing_make_room(strict: Running) -> None:
    held = [sent(strict, b"") for _ in range(100)]
    assert is_well(strict)
    for one in held:
        assert received(one) == b""
        one.close()
    assert is_well(strict)


CHUNKED = b"POST /v1/ladder HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (CHUNKED + b"a: b\r\n" * 2_000, b"431"),  # what stands behind the body is no body
        (b"GET /?question=" + b"a" * 4_100 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"431"),  # whole in one piece
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", b"400"),
    ],
    ids=["trailers", "long address", "no host", "two hosts"],
)
def test_heads_that_are_refused(strict: Running, data: bytes, status: bytes) -> None:
    with closing(sent(strict, data)) as connection:
        assert received(connection).startswith(b"HTTP/1.1 " + status)
    assert is_well(strict)


def test_a_refusal_before_the_body_is_the_only_answer(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, "--host", "0.0.0.0", token="a-secret-of-many-letters") as service:
        head = b"POST /v1/ladders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n"
        with closing(socket.create_connection(("127.0.0.1", service.place[1]), timeout=20)) as connection:
            connection.sendall(head + b"x" * 1_000_000)
            assert connection.recv(12) == b"HTTP/1.1 401"
            connection.sendall(b"x" * 1_000_000)
            connection.sendall(b"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            rest = received(connection)
        assert rest.count(b"HTTP/1.1 ") == 1
        assert b"HTTP/1.1 200 OK" in rest


def test_who_does_not_read_holds_nothing_for_long(strict: Running) -> None:
    body = batch(1_500)
    head = b"POST /v1/ladders HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    readers = []
    for _ in range(2):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.connect(strict.place)
        connection.sendall(head + body)
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        readers.append(connection)
    refused = requests.post(f"{strict.address}/v1/ladders", data=batch(2), timeout=10)
    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert int(refused.headers["Retry-After"]) > 0
    assert is_well(strict)
    until = time.monotonic() + 15
    while (again := requests.post(f"{strict.address}/v1/ladders", data=batch(2), timeout=10)).status_code == 503:
        assert time.monotonic() < until
    assert len(again.text.splitlines()) == 2
    for one in readers:
        one.close()


def test_who_leaves_in_the_middle_is_forgotten(strict: Running) -> None:
    body = batch(1_500)
    head = b"POST /v1/ladders HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    for cut in (head + body[:1_000], head + body):
        for _ in range(3):
            connection = sent(strict, cut)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()
    until = time.monotonic() + 15
    while requests.post(f"{strict.address}/v1/ladders", data=batch(2), timeout=10).status_code == 503:
        assert time.monotonic() < until
    assert is_well(strict)


def test_overload_is_refused_at_once_and_passes(demo_snapshot: Path) -> None:
    with limited(demo_snapshot, waiting=2) as service, ThreadPoolExecutor(24) as pool:

        def ask(_: int) -> tuple[int, float, bool]:
            began = time.monotonic()
            got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10)
            return got.status_code, time.monotonic() - began, "Retry-After" in got.headers

        told = list(pool.map(ask, range(600)))
        assert {status for status, _, _ in told} == {200, 503}
        assert all(retry for status, _, retry in told if status == 503)
        assert is_well(service)
        metrics = requests.get(f"{service.address}/v1/metrics", timeout=10).text
        refused = sum(status == 503 for status, _, _ in told)
        assert f'granola_refused_total{{code="overloaded"}} {refused}.0' in metrics
        assert 'granola_requests_total{method="POST",route="/v1/ladder",status="200"}' in metrics


def test_a_request_has_its_time_and_no_more(demo_snapshot: Path) -> None:
    with limited(demo_snapshot, seconds=0.000_001) as service:
        got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10)
        assert (got.status_code, got.json()["code"]) == (503, "time-limit")
        assert requests.get(f"{service.address}/v1/health/ready", timeout=10).status_code == 200


def test_the_token_is_asked_for(demo_snapshot: Path) -> None:
    token = "a-secret-of-many-letters"
    with serving(demo_snapshot, "--host", "0.0.0.0", token=token) as service:
        address = service.address.replace("0.0.0.0", "127.0.0.1")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic !!!"}):
            got = requests.post(f"{address}/v1/ladder", json=OBAMA, headers=headers, timeout=10)
            assert (got.status_code, got.json()["code"]) == (401, "token")
            assert token not in got.text + str(got.headers)
            assert "Bearer" in got.headers["WWW-Authenticate"]
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
        [sys.executable, "-c", "from granola.cli.main import main; main()", "serve", "--port", "0", *options],
        capture_output=True, text=True, cwd=ROOT, timeout=30, 
        env=environment | ({"GRANOLA_TOKEN": token} if token else {}),
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr


def _expected(snapshot: Path) -> tuple[str, bytes]:
    with closing(open_store(snapshot)) as store:
        made = make_ladders(read_questions([DEMO / "questions.jsonl"]), store)
        lines = b"".join(line_of(row.to_json(), first=n == 0) for n, row in enumerate(made))
        return str(store.manifest()["snapshot_id"]), lines


@pytest.mark.parametrize("workers", [1, 2])
def test_a_replaced_snapshot_is_taken_up_without_a_lost_request(
    demo_snapshot: Path, tmp_path: Path, workers: int
) -> None:
    place, other = tmp_path / "served.sqlite", tmp_path / "other.sqlite"
    shutil.copy(demo_snapshot, place)
    half = json.loads((DEMO / "wikidata.json").read_text("utf-8"))
    source = tmp_path / "half.json"
    source.write_text(json.dumps(half[: len(half) // 2]), "utf-8")
    build([source], other)
    expected = dict(_expected(one) for one in (place, other))
    assert len(expected) == 2
    stop = threading.Event()
    seen: list[str] = []
    wrong: list[str] = []

    def ask(service: Running) -> None:
        with requests.Session() as session:
            while not stop.is_set():
                got = session.post(f"{service.address}/v1/ladders", data=QUESTIONS, timeout=20)
                if got.status_code == 503:
                    continue
                name = got.headers["Granola-Snapshot"]
                seen.append(name)
                if got.status_code != 200 or got.content != expected[name]:
                    wrong.append(f"{got.status_code} {name} {got.text[:200]}")

    with serving(place, "--workers", str(workers)) as service, ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask, service) for _ in range(3)]
        until = time.monotonic() + 20
        try:
            for new in (other, demo_snapshot):
                copy = tmp_path / "new.sqlite"
                shutil.copy(new, copy)
                copy.replace(place)
                service.process.send_signal(signal.SIGHUP)
                (name,) = [n for n in expected if n == _expected(new)[0]]
                start = len(seen)
                while seen[start:].count(name) < 6 and not wrong and time.monotonic() < until:
                    time.sleep(0.01)
                assert name in seen[start:]
        finally:
            stop.set()
        for one in asking:
            one.result()
        copy.write_bytes(b"no snapshot")
        copy.replace(place)  # what cannot be opened is not taken up
        service.process.send_signal(signal.SIGHUP)
        assert is_well(service)
    assert not wrong


def test_stopping_finishes_what_was_begun(demo_snapshot: Path) -> None:
    with serving(demo_snapshot) as service:
        body = batch(1_500)
        with requests.post(f"{service.address}/v1/ladders", data=body, stream=True, timeout=30) as got:
            lines = got.iter_lines()
            next(lines)
            service.process.send_signal(signal.SIGTERM)
            assert sum(1 for _ in lines) == 1_499
        assert service.process.wait(timeout=20) == 0


def test_a_worker_that_dies_is_replaced_and_all_end_with_their_parent(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, "--workers", "2") as service:
        (first, second) = _children(service.process.pid)
        assert all(is_well(service) for _ in range(20))  # each on a connection of its own, so by both
        metrics = requests.get(f"{service.address}/v1/metrics", timeout=10).text
        assert 'granola_requests_total{method="POST",route="/v1/ladder",status="200"} 20.0' in metrics
        assert 'granola_ladders_total{outcome="whole"} 20.0' in metrics
        os.kill(first, signal.SIGKILL)
        until = time.monotonic() + 20
        while len(now := set(_children(service.process.pid)) - {first}) < 2:
            assert time.monotonic() < until
            with suppress(requests.ConnectionError):  # what the dead one had accepted goes with it
                assert is_well(service)
        assert second in now
        service.process.kill()
        service.process.wait()
        while any(Path(f"/proc/{pid}").exists() and not _is_zombie(pid) for pid in now):
            assert time.monotonic() < until
            time.sleep(0.01)


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("no /proc that tells children")
    return [int(word) for word in listed.read_text().split()]


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True
