"""The mirror of the real sample of 76 197 entities: the same answers and the same ladders as from its file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j_server import SERVER, the_server

from kg.export.comparison import verify_mirror
from kg.store.neo4j_push import push
from tests.conftest import DATA, Run
from tests.thorough import thorough_only

pytestmark = SERVER
QUESTIONS = DATA / "entityquestions" / "test"
ASKED = 1_500


@pytest.fixture(scope="module")
def mirror(sample_snapshot: Path) -> Iterator[str]:
    with the_server() as address:
        push(sample_snapshot, address, replace=True)
        yield address


def test_it_is_as_the_file(mirror: str, sample_snapshot: Path) -> None:
    assert verify_mirror(mirror, sample_snapshot, sample=500).problems == ()


@thorough_only
def test_ladders_are_the_same_bytes(mirror: str, sample_snapshot: Path, tmp_path: Path, run: Run) -> None:
    """`granola tiers` on questions of every relation that there is."""
    files = sorted(QUESTIONS.glob("*.json"))
    if not files:
        pytest.skip("EntityQuestions is not beside the checkout (../shared/data)")
    asked = []
    for path in files:
        rows = json.loads(path.read_text(encoding="utf-8"))
        step = max(1, len(rows) * len(files) // ASKED)
        asked.append(tmp_path / path.name)
        asked[-1].write_text(json.dumps(rows[::step]), encoding="utf-8")
    for name, where in (("file", sample_snapshot), ("mirror", mirror)):
        words = ["tiers", *asked, "--snapshot", where, "--out", tmp_path / name, "--format", "jsonl"]
        assert run(*words)[0] == 0
    made = (tmp_path / "file").read_bytes()
    assert made == (tmp_path / "mirror").read_bytes()
    assert made.count(b"\n") >= ASKED
