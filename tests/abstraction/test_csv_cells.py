"""CSV that a spreadsheet opens: no cell of ours is a formula, and what is written is read back as it was."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.files.records import Record, escape_formula, read_records, unescape_formula
from abstraction.files.writing import write_records
from granola.report.score_tables import Table
from tests.conftest import Run
from tests.granola.rows_fed import write

FORMULAS = ["=1+1", '=HYPERLINK("http://x")', "+1 555", "-5 degrees", "@SUM(A1)", "\tx", "\rx", "'=1", "''-x", "-", "="]
PLAIN = ["Berlin", "'s-Hertogenbosch", "'", "", " =1", "-5", "-0.5", "+3", "1e-5", "–5 degrees"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_marked(text: str) -> None:
    assert escape_formula(text) == f"'{text}"
    assert unescape_formula(f"'{text}") == text


@pytest.mark.parametrize("value", [*PLAIN, -0.5, -3, None, True])
def test_what_is_no_formula_stays(value: object) -> None:
    assert escape_formula(value) is value


@given(st.text(alphabet="'=+-@\t\r 5a"))
def test_what_is_marked_is_read_back(text: str) -> None:
    cell = escape_formula(text)
    assert unescape_formula(cell) == text
    assert cell == text or cell[0] == "'"


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_records_come_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = [{"id": text, "score": -0.5, "=field": text, "many": ["-5 degrees", "Berlin"]} for text in FORMULAS[:5]]
    write_records(rows, path)
    head, first, *_ = cells(path)
    assert head == ["schema_version", "id", "score", "'=field", "many"]
    assert first == ["1", "'=1+1", "-0.5", "'=1+1", "'-5 degrees|Berlin"]
    back = [one.data for one in read_records(path) if isinstance(one, Record)]
    assert [(one["id"], one["=field"], one["many"], one["score"]) for one in back] == [
        (text, text, "-5 degrees|Berlin", "-0.5") for text in FORMULAS[:5]
    ]
    write_records(rows, path, csv_raw=True)
    assert cells(path)[1] == ["1", "=1+1", "-0.5", "=1+1", "-5 degrees|Berlin"]


def test_answers_that_begin_a_formula_come_back(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = [["-5 degrees", "=x"], ["below zero"]]
    rows = write(tmp_path / "rows.jsonl", [{"id": "1", "prediction": "-5 degrees", "levels": levels, "note": "@me"}])
    out, raw = tmp_path / "out.csv", tmp_path / "raw.csv"
    assert run("match", rows, "--out", out)[0] == 0
    with monkeypatch.context() as patch:
        patch.setenv("GRANOLA_CSV_RAW", "1")
        assert run("match", rows, "--out", raw)[0] == 0
    assert "'-5 degrees" in cells(out)[1]
    assert "-5 degrees" in cells(raw)[1]
    assert run("match", out, "--out", tmp_path / "again.csv")[0] == 0
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()
    (back,) = read_records(out)
    assert isinstance(back, Record)
    assert (back.data["prediction"], back.data["note"], back.data["level"]) == ("-5 degrees", "@me", "1")


def test_tables_keep_numbers() -> None:
    table = Table(name="x", title="x", caption="x", head=("@system", "score"), rows=(("=cmd", -0.5), ("b", 1)))
    assert table.to_csv() == "'@system,score\n'=cmd,-0.5\nb,1\n"
    assert table.to_csv(raw=True) == "@system,score\n=cmd,-0.5\nb,1\n"
