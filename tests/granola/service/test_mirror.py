"""A service of a Neo4j mirror whose server goes away under load and comes back."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
import requests

from abstraction.pipeline import make_ladders
from abstraction.rows import read_questions, write_tiered
from kg.store import open_store
from kg.store.neo4j_push import push
from tests.granola.service.conftest import DEMO, serving

SCRIPT = os.environ.get("NEO4J_SCRIPT", "")
OBAMA = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
SETTINGS = {"NEO4J_PASSWORD": "correct-horse-7", "NEO4J_HEAP": "384m", "NEO4J_PAGECACHE": "64m"}

pytestmark = [
    pytest.mark.skipif(not SCRIPT, reason="NEO4J_SCRIPT names no script that starts a Neo4j server"),
    pytest.mark.xdist_group("neo4j"),
    pytest.mark.thorough("granola/service", "kg/store"),
]


def test_neo4j_goes_away_under_load_and_comes_back(
    demo_snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address, home = f"bolt://127.0.0.1:{port}", str(tmp_path / "neo4j")
    questions = b"".join((DEMO / "questions.jsonl").read_bytes().splitlines(keepends=True)[:5])
    with closing(open_store(demo_snapshot)) as store:
        rows = read_questions([DEMO / "questions.jsonl"], limit=5)
        write_tiered(make_ladders(rows, store), tmp_path / "tiers.jsonl")
    subprocess.run([SCRIPT, "start", home, port], check=True, stdout=subprocess.DEVNULL)
    try:
        push(demo_snapshot, address)
        with serving(address) as service:
            stop, statuses, wrong = threading.Event(), [], []

            def ask() -> None:
                with requests.Session() as session:
                    while not stop.is_set():
                        language = "de" if len(statuses) % 2 else "fr"  # makers that have not read everything yet
                        asked = {**OBAMA, "language": language}
                        got = session.post(f"{service.address}/v1/ladder", json=asked, timeout=30)
                        statuses.append(got.status_code)
                        if got.status_code == 200 and "Q18094" not in got.text:
                            wrong.append(got.text)
                        if got.status_code != 200 and (port in got.text or "bolt" in got.text):
                            wrong.append(got.text)

            asking = [threading.Thread(target=ask) for _ in range(4)]
            for one in asking:
                one.start()
            subprocess.run([SCRIPT, "kill", home], check=True)
            until = time.monotonic() + 60
            # Whoever waits behind others that find the server gone may be told of the time limit first.
            while (
                got := requests.get(f"{service.address}/v1/search?name=Paris{time.monotonic()}", timeout=30)
            ).ok or got.json()["code"] == "time-limit":
                assert time.monotonic() < until
            assert (got.status_code, got.json()["code"]) == (503, "mirror-unreachable")
            assert int(got.headers["Retry-After"]) > 0
            assert port not in got.text
            subprocess.run([SCRIPT, "start", home, port], check=True, stdout=subprocess.DEVNULL)
            until = time.monotonic() + 60
            while not (got := requests.post(f"{service.address}/v1/ladders", data=questions, timeout=60)).ok:
                assert time.monotonic() < until
                time.sleep(1)
            assert got.content == (tmp_path / "tiers.jsonl").read_bytes()
            stop.set()
            for one in asking:
                one.join(60)
            assert not wrong
            assert set(statuses) <= {200, 503}
    finally:
        subprocess.run([SCRIPT, "kill", home], check=False)
