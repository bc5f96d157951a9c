"""A test that hangs fails with its stack, and those behind it are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
TESTS = """
import re, threading, time

def test_sleeps():
    time.sleep(60)

def test_waits_for_a_thread():
    threading.Event().wait(60)

def test_computes_in_c():
    re.fullmatch("(a|aa)+b", "a" * 60)

def test_is_well():
    pass
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "in a worker"])
def test_a_test_that_hangs_fails_with_its_stack(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "test_hangs.py").write_text(TESTS)
    options = ["-c", str(PROJECT), "-o", "timeout=1", "-p", "no:cacheprovider", *workers]
    command = [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert "3 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    for line in ("time.sleep(60)", "threading.Event().wait(60)", 're.fullmatch("(a|aa)+b", "a" * 60)'):
        assert f">       {line}" in done.stdout or f">   {line}" in done.stdout


def test_the_limit_of_a_test_is_five_minutes(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) == 300
