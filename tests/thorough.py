"""Tests of machinery and of hostile input: `make test-thorough` runs all, a whole check those whose rooms changed.

A file of tests names the rooms that it looks at, `pytestmark = pytest.mark.thorough("kg/reading")`: plain runs leave it
out unless they name it. Files of the same rooms are a group; tests/thorough.json keeps a hash of the code and tests of
each group that has passed, and its seconds. Tests that look at a sample take `sample` and `thorough_only` from here.

    python -m tests.thorough [--changed] [--within SECONDS] [--record]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

THOROUGH = os.environ.get("GRANOLA_THOROUGH") == "1"
thorough_only = pytest.mark.skipif(not THOROUGH, reason="takes long; make test-thorough runs it")
ROOT = Path(__file__).resolve().parents[1]
RECORD = Path(__file__).with_suffix(".json")
UNKNOWN = 60.0  # seconds of a group that has not been timed
_MARK = re.compile(r"^pytestmark = .*?pytest\.mark\.thorough\(([^)]*)\)", re.MULTILINE | re.DOTALL)
Item = TypeVar("Item")


def sample(items: Sequence[Item], number: int, *, of: int = 3) -> Sequence[Item]:
    """Every item in a thorough run, else every `of`-th; tests with other numbers look at others."""
    return items if THOROUGH else items[number % of :: of]


def examples(number: int) -> int:
    """How many examples of a property are tried: all in a thorough run, else a fifth, and ten at least."""
    return number if THOROUGH else max(10, number // 5)


def rooms_of(file: Path) -> tuple[str, ...]:
    """The rooms that a file of tests names as thorough; none where plain runs take it."""
    found = _MARK.search(file.read_text(encoding="utf-8"))
    return tuple(sorted(re.findall(r'"([^"]+)"', found[1]))) if found else ()


def groups() -> dict[str, list[Path]]:
    """The files of every group, by its rooms."""
    found = defaultdict(list)
    for file in sorted(Path(__file__).parent.rglob("test_*.py")):
        if rooms := rooms_of(file):
            found[" ".join(rooms)].append(file)
    return dict(found)


def state(name: str, files: Sequence[Path]) -> str:
    """A hash of a group's tests, and of all files of its rooms."""
    digest = hashlib.sha256()
    for path in sorted({*files, *(path for room in name.split() for path in _files(ROOT / room))}):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _files(room: Path) -> Iterator[Path]:
    if room.is_file():
        yield room
    for path in room.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def passes(files: Sequence[Path], within: float) -> bool | None:
    """Whether tests pass; None where their time is up before."""
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", *map(str, files)]
    tests = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "GRANOLA_THOROUGH": "1"}, start_new_session=True)
    try:
        return tests.wait(None if within == float("inf") else within) == 0
    except subprocess.TimeoutExpired:
        os.killpg(tests.pid, signal.SIGKILL)  # with the services and servers that they have started
        return None


def main() -> int:
    """Run the groups, the quickest first; 1 where one fails. What there was no time for is told, and no failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", action="store_true", help="only groups that have changed since they passed")
    parser.add_argument("--within", type=float, default=float("inf"), help="seconds for all")
    parser.add_argument("--record", action="store_true", help=f"write into {RECORD.name} what has passed")
    given = parser.parse_args()
    until = time.monotonic() + given.within
    known: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    found = groups()
    passed = {name: one for name, one in known.items() if name in found}
    status = 0
    for name in sorted(found, key=lambda name: float(known.get(name, {}).get("seconds", UNKNOWN))):
        now, before = state(name, found[name]), known.get(name, {})
        if given.changed and before.get("passed") == now:
            continue
        began = time.monotonic()
        left = until - began
        outcome = passes(found[name], left) if before.get("seconds", UNKNOWN) < left else None
        if outcome is None:
            print(f"thorough tests of {name}: no time left for them", file=sys.stderr)
        elif outcome:
            passed[name] = {"passed": now, "seconds": round(time.monotonic() - began)}
        else:
            status = 1
    if given.record:
        RECORD.write_text(json.dumps(passed, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
