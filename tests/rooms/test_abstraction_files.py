"""Files of rows: records in and out, bad lines told and left out."""

from __future__ import annotations

from pathlib import Path

from abstraction.base.faults import RejectedRow
from abstraction.files.records import Record, read_records
from abstraction.files.writing import write_records


def test_a_bad_line_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "1", "n": 2}\nno json\n')
    good, bad = read_records(path)
    assert isinstance(good, Record)
    assert good.data == {"id": "1", "n": 2}
    assert isinstance(bad, RejectedRow)
    assert bad.source.endswith("rows.jsonl:2")


def test_the_ending_names_the_format(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    assert write_records([{"id": "1", "text": "=1+1"}], path) == 1
    assert "'=1+1" in path.read_text()  # no spreadsheet takes it for a formula
