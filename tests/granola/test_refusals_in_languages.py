"""How answers decline in the languages that have a file of words, and what declines nothing."""

from __future__ import annotations

from pathlib import Path

from granola.replies.refusals import abstention, languages

TABLE = Path(__file__).parents[1] / "data" / "answers_that_decline.txt"


def test_answers_decline_where_a_reader_says_so() -> None:
    rows = [line.split("|") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
    assert {code for code, _, _ in rows} == set(languages())
    assert [row for row in rows if (abstention(row[2], row[0]) is not None) != (row[1] == "-")] == []
