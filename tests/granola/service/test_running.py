"""Processes and snapshots: replaced under load, ended, killed; nothing that was begun is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
import requests

from abstraction.pipeline import make_ladders
from abstraction.rows import read_questions
from granola.service.work.snapshot_work import line_of
from kg.snapshot import build
from kg.store import open_store
from tests.granola.service.conftest import DEMO, Running, serving, wait_until
from tests.granola.service.test_limits import batch, is_well, received, sent

QUESTIONS = (DEMO / "questions.jsonl").read_bytes()


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
        until = time.monotonic() + 120
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


def test_the_newest_file_is_taken_up_however_soon_it_comes(demo_snapshot: Path, tmp_path: Path) -> None:
    half = json.loads((DEMO / "wikidata.json").read_text("utf-8"))
    others = []
    for number in range(3):
        source, other = tmp_path / f"{number}.json", tmp_path / f"{number}.sqlite"
        source.write_text(json.dumps(half[: len(half) // 2 + number]), "utf-8")
        build([source], other)
        others.append((other, _expected(other)[0]))
    place = tmp_path / "served.sqlite"
    shutil.copy(demo_snapshot, place)
    with serving(place) as service:
        for other, _ in others:
            other.replace(place)
            service.process.send_signal(signal.SIGHUP)
        place_of = f"{service.address}/v1/snapshot"
        wait_until(lambda: requests.get(place_of, timeout=20).json()["snapshot_id"] == others[-1][1])


def test_bodies_that_are_still_coming_are_not_waited_for_at_the_end(demo_snapshot: Path) -> None:
    with serving(demo_snapshot) as service:
        started = b"POST /v1/ladder HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        with closing(sent(service, started)) as connection:
            assert is_well(service)
            began = time.monotonic()
            service.process.send_signal(signal.SIGTERM)
            assert received(connection).startswith(b"HTTP/1.1 503 ")
        assert service.process.wait(timeout=60) == 0
        assert time.monotonic() - began < 20
        assert "Traceback" not in service.log.read_text()


def test_stopping_finishes_what_was_begun(demo_snapshot: Path) -> None:
    with serving(demo_snapshot) as service:
        body = batch(1_500)
        with requests.post(f"{service.address}/v1/ladders", data=body, stream=True, timeout=30) as got:
            lines = got.iter_lines()
            next(lines)
            service.process.send_signal(signal.SIGTERM)
            assert sum(1 for _ in lines) == 1_499
        assert service.process.wait(timeout=60) == 0


def test_a_worker_that_dies_is_replaced_and_all_end_with_their_parent(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, "--workers", "2") as service:
        (first, second) = children(service.process.pid)
        assert all(is_well(service) for _ in range(20))  # each on a connection of its own, so by both
        metrics = requests.get(f"{service.address}/v1/metrics", timeout=10).text
        assert 'granola_requests_total{method="POST",route="/v1/ladder",status="200"} 20.0' in metrics
        assert 'granola_ladders_total{outcome="whole"} 20.0' in metrics
        os.kill(first, signal.SIGKILL)
        until = time.monotonic() + 60
        while len(now := set(children(service.process.pid)) - {first}) < 2:
            assert time.monotonic() < until
            with suppress(requests.ConnectionError):  # what the dead one had accepted goes with it
                assert is_well(service)
        assert second in now
        service.process.kill()
        service.process.wait()
        while any(Path(f"/proc/{pid}").exists() and not _is_zombie(pid) for pid in now):
            assert time.monotonic() < until
            time.sleep(0.01)


def children(pid: int) -> list[int]:
    """The ids of a process's children."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("no /proc that tells children")
    return [int(word) for word in listed.read_text().split()]


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True
