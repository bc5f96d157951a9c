"""The days and amounts that wordings of tiers mean, held against a second reader that shares no code with ladders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.ladders.literal_ladders import date_ladder
from abstraction.text.language.calendar_units import day_number
from abstraction.text.language.date_reader import parse_date
from abstraction.verifying.step_replay import range_contains, range_of_words, span_of_words
from tests import literal_ranges as second


@given(st.integers(1000, 2100), st.integers(1, 12), st.integers(1, 28), st.sampled_from(["", " BC"]))
def test_names_of_dates_mean_the_same_days_to_both_readers(year: int, month: int, day: int, era: str) -> None:
    parsed = parse_date(f"{day} {('January', 'May', 'June', 'August')[month % 4]} {year}{era}")
    assert parsed is not None
    for name in {name for level in date_ladder(parsed) for tier in level.tiers for name in tier.names()}:
        mine, other = span_of_words(name), second.span_of_words(name)
        if mine is not None and other is not None:
            assert (mine.first, mine.last) == (day_number(*other.first), day_number(*other.last)), name
            assert mine.loose == other.loose


@pytest.mark.parametrize(
    "text",
    ["350964", "about 350,000", "approximately $3.5 million", "between 10 and 100 million",
     "between 100,000 and 1 million", "fewer than 10", "8,848 m", "12 kg", "twelve"],
)  # fmt: skip
def test_amounts_mean_the_same_range_to_both_readers(text: str) -> None:
    mine, other = range_of_words(text), second.range_of_words(text)
    if other is None:
        assert mine is None
    else:
        assert mine is not None
        assert (mine.low, mine.high, mine.unit) == (other.low, other.high, other.unit)


@pytest.mark.parametrize(
    ("text", "inner", "right"),
    [
        ("the 1990s", "Fall 1998", True),
        ("August 1945", "14 and 15 August 1945", True),
        ("the 20th century", "2000", True),  # as most people count
        ("the 21st century", "2000", True),
        ("the 20th century", "c. 1899", False),
        ("in his forties", "41", None),
        ("40s", "41", True),
        ("the 2010s", "7 a.m.", None),
    ],
)
def test_which_days_hold_which(text: str, inner: str, right: bool | None) -> None:
    outer, days = span_of_words(text), span_of_words(inner)
    assert (outer.contains(days) if outer and days else None) is right


@pytest.mark.parametrize(
    ("text", "amount", "right"),
    [
        ("about 400 sq mi", "367.81 sq mi", True),
        ("about $1.1 trillion", "US$1.06 trillion", True),
        ("about 60 km", "100 kg", False),
        ("between 40 and 49", "41", True),
    ],
)
def test_which_amounts_hold_which(text: str, amount: str, right: bool) -> None:
    outer, inner = range_of_words(text), range_of_words(amount)
    assert outer is not None
    assert inner is not None
    assert range_contains(outer, inner) is right
