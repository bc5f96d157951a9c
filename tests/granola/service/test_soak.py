"""The soak of the service, for a short while: its promises hold under requests that are wrong in every way."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.granola.service.conftest import ROOT

pytestmark = pytest.mark.thorough("granola/service")


def soaked(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "soak_service.py"), *options]
    command += ["--late", "10"]  # on a machine with much else to do
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, timeout=250, cwd=ROOT, env=environment, check=False)


def test_more_memory_than_promised_ends_with_status_1() -> None:
    done = soaked("--requests", "20", "--workers", "1", "--memory", "20")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "MiB, promised are 20" in done.stdout
    assert "1 promises broken" in done.stdout


def test_promises_hold_under_wrong_requests() -> None:
    done = soaked("--requests", "400", "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "400 requests in" in done.stdout
    assert "all promises held" in done.stdout


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("soak_service")


def test_a_broken_promise_is_seen(soak: Any) -> None:
    asked = soak.Request("POST", "/v1/match", b"")
    for status, told, passed in ((500, b"", 0.1), (502, b"", 0.1), (0, b"reset", 0.1), (200, b"", 11.1)):
        assert len(soak.faults(asked, 1, status, told, passed)) == 1
    cut = b'{"problem": {"type": "urn:granola:problem:internal"}}'
    assert len(soak.faults(asked, 1, 200, cut, 0.1)) == 1
    for status, passed in ((200, 10.9), (503, 10.9), (422, 0.1)):
        assert soak.faults(asked, 1, status, b"{}", passed) == []
    batch = soak.Request("POST", "/v1/ladders?x", b"")
    assert soak.faults(batch, 1, 200, b"", 100.0) == []


def test_memory_that_grows_is_seen(soak: Any) -> None:
    level = [{1: 100.0, 2: 200.0}] * 100
    leaking = [{1: 100.0 + step} for step in range(200)]
    assert soak.grown(level, 100_000) == []
    assert len(soak.grown(leaking, 100_000)) == 1
    assert soak.grown(leaking, 100) == []
    assert len(soak.grown([{1: 100.0}, {1: 1_000.0}], 100)) == 1


def test_requests_of_a_seed_are_always_the_same_and_of_all_kinds(soak: Any) -> None:
    names = ["Honolulu", "Barack Obama", "Hawaii"]
    made = [soak.request_of(seed, names) for seed in range(2_000)]
    assert made == [soak.request_of(seed, names) for seed in range(2_000)]
    assert {one.route for one in made} == {*soak.ROUTES, "/v1/entity/", "other"}
    assert any(b"\\ud800" in one.body for one in made)
    assert any(b"\xed\xa0\x80" in one.body for one in made)
    assert max(len(one.body) for one in made) > 50_000
