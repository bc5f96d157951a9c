"""Dates, amounts and numbers as people write them, in the language's own way."""

from __future__ import annotations

import pytest

from abstraction.text.language.amounts import parse_quantity
from abstraction.text.language.calendar_dates import parse_date
from abstraction.text.language.languages import language


@pytest.mark.parametrize(
    ("text", "code", "year"), [("August 4, 1961", "en", 1961), ("4. August 1961", "de", 1961), ("44 BC", "en", -44)]
)
def test_dates(text: str, code: str, year: int) -> None:
    found = parse_date(text, code=code)
    assert found is not None
    assert found.first.year == year


def test_amounts() -> None:
    found = parse_quantity("8,848.86 m")
    assert found is not None
    assert (str(found.amount), found.unit and found.unit.qid) == ("8848.86", "Q11573")
    assert parse_quantity("blue") is None


def test_a_languages_own_words() -> None:
    assert language("en").ordinal(22) == "22nd"
    assert language("de").formatted_number("1234.5") == "1.234,5"
