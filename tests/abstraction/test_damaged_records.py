"""Records that are damaged or beyond what can be read: each is rejected in its place, and reading goes on behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstraction.base.faults import RejectedRow
from abstraction.errors import RowError
from abstraction.files.records import Record, parse_json_or_text, read_records
from granola.errors import PredictionError
from granola.scoring.predictions import read_predictions

GOOD = '{"id": 2, "prediction": "y"}'


def nested(depth: int) -> str:
    return '{"id": 1, "prediction": "x", "a": ' + "[" * depth + "]" * depth + "}"


@pytest.mark.parametrize(
    "record",
    [nested(100_000), '{"id": ' + "9" * 10_000 + ', "prediction": "x"}', '{"id": 1, "prediction": 1e999999}', "{oops"],
    ids=["too deep", "too many digits", "no finite number", "no JSON"],
)
def test_what_cannot_be_read_is_rejected_in_its_place(tmp_path: Path, record: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{record}\n{GOOD}\n")
    found = read_predictions(path)
    assert list(found.predictions) == ["2"]
    assert [row.source for row in found.rejected] == [f"{path}:1"]


def test_a_quoted_cell_has_as_many_lines_as_it_wants(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    cell = "a line\n" * 100_000
    path.write_text(f'id,x\n1,"{cell}"\n2,b,c\n3,d\n')
    first, second, third = read_records(path)
    assert isinstance(first, Record)
    assert first.data["x"] == cell
    assert isinstance(second, RejectedRow)
    assert second.source == f"{path}:100003"
    assert isinstance(third, Record)


def test_a_column_that_stands_twice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question," + "a,b," * 4_000 + "\n")
    with pytest.raises(RowError, match="column 'a' appears twice"):
        list(read_records(path))


def test_a_cell_that_is_no_usable_json_is_a_text() -> None:
    for text in ("[" * 100_000, "[" + "9" * 10_000 + "]", '{"text": "\\ud800"}', "{oops}"):
        assert parse_json_or_text(text) == text


def test_predictions_of_nothing_but_such_rows_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(nested(100_000) + "\n")
    with pytest.raises(PredictionError, match=r"no prediction in 1 line \(.*x.jsonl:1: not JSON"):
        read_predictions(path)
