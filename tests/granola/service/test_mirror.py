"""A service of a Neo4j mirror whose server goes away and comes back."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import requests

from abstraction.files.rows import read_questions, write_tiered
from abstraction.maker.pipeline import make_ladders
from kg.store import open_store
from kg.store.neo4j_push import push
from tests.granola.service.conftest import DEMO, OBAMA, serving, wait_until

SCRIPT = os.environ.get("NEO4J_SCRIPT", "")
SETTINGS = {"NEO4J_PASSWORD": "correct-horse-7", "NEO4J_HEAP": "384m", "NEO4J_PAGECACHE": "64m"}

pytestmark = [
    pytest.mark.skipif(not SCRIPT, reason="NEO4J_SCRIPT names no script that starts a Neo4j server"),
    pytest.mark.xdist_group("neo4j"),
    pytest.mark.thorough("granola/service", "kg/store"),
]


def test_neo4j_goes_away_and_comes_back(
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
    expected = (tmp_path / "tiers.jsonl").read_bytes()
    subprocess.run([SCRIPT, "start", home, port], check=True, stdout=subprocess.DEVNULL)
    try:
        push(demo_snapshot, address)
        with serving(address) as service:
            assert requests.post(f"{service.address}/v1/ladders", data=questions, timeout=60).content == expected
            subprocess.run([SCRIPT, "kill", home], check=True)
            got = requests.post(f"{service.address}/v1/ladder", json={**OBAMA, "language": "de"}, timeout=60)
            assert (got.status_code, got.json()["code"]) == (503, "mirror-unreachable")
            assert int(got.headers["Retry-After"]) > 0
            assert port not in got.text
            subprocess.run([SCRIPT, "start", home, port], check=True, stdout=subprocess.DEVNULL)
            wait_until(lambda: requests.get(f"{service.address}/v1/search?name=Paris", timeout=60).ok)
            assert requests.post(f"{service.address}/v1/ladders", data=questions, timeout=60).content == expected
    finally:
        subprocess.run([SCRIPT, "kill", home], check=False)
