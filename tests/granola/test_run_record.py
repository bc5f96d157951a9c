"""Run records that cannot be read: told in one line, and ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.base.run_record import record_of
from granola.scoring.tiered_file import snapshot_of


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{oops", "Expecting property name"),
        ("[1]", "no JSON object"),
        ('{"snapshot": "a\x1b[31m', "Invalid control character"),
    ],
    ids=["damaged", "list", "cut off"],
)
def test_a_record_that_cannot_be_read_is_told_once_and_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    path = tmp_path / "tiers.jsonl.run.json"
    path.write_text(text)
    assert record_of(tmp_path / "tiers.jsonl") == {}
    assert snapshot_of(tmp_path / "tiers.jsonl") == "unknown"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"granola: {path} is no run record and is ignored: ")
    assert why in line


def test_where_there_is_no_record_nothing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("absent.jsonl", "x" * 250, "-"):
        assert record_of(tmp_path / name) == {}
    assert capsys.readouterr().err == ""
