"""Dates in text, and how what is said of them compares; whole answers stand in files/dates.jsonl."""

from __future__ import annotations

import pytest

from abstraction.ladders.literal_ladders import date_ladder
from abstraction.text.language.calendar_dates import parse_date
from abstraction.text.language.date_finder import date_of_whole_text, dates
from granola.matching import matcher


def day(year: int, month: int, day_: int) -> int:
    return (year * 12 + month - 1) * 31 + day_ - 1


def years(first: int, last: int) -> tuple[int, int]:
    return day(first, 1, 1), day(last, 12, 31)


FOURTH = (day(1961, 8, 4), day(1961, 8, 4))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("August 4, 1961", FOURTH),
        ("4 August 1961", FOURTH),
        ("4th of August, 1961", FOURTH),
        ("Aug. 4th 1961", FOURTH),
        ("1961-08-04", FOURTH),
        ("8/4/1961", FOURTH),
        ("04.08.1961", FOURTH),
        ("1961/08/04", FOURTH),
        ("1961.8.4", FOURTH),
        ("the fourth of August, 1961", FOURTH),
        ("the fourth day of August in the year 1961", FOURTH),
        ("August the fourth, 1961", FOURTH),
        ("13/8/1961", (day(1961, 8, 13), day(1961, 8, 13))),
        ("August 1961", (day(1961, 8, 1), day(1961, 8, 31))),
        ("1961-08", (day(1961, 8, 1), day(1961, 8, 31))),
        ("circa 1961", years(1961, 1961)),
        ("the 1960s", years(1960, 1969)),
        ("late 1960s", years(1965, 1969)),
        ("the 20th century", years(1901, 2000)),
        ("nineteenth century", years(1801, 1900)),
        ("the early 19th century", years(1801, 1850)),
        ("the 2nd millennium", years(1001, 2000)),
        ("44 BC", years(-43, -43)),  # astronomical: 1 BCE is 0
        ("the 40s BC", years(-48, -39)),
        ("the 1st century BCE", years(-99, 0)),
        ("AD 79", years(79, 79)),
        ("10,000 BC", years(-9999, -9999)),
        ("1939–1945", years(1939, 1945)),
        ("between 1961 and 1963", years(1961, 1963)),
    ],
)
def test_a_date_is_an_interval_of_days(text: str, expected: tuple[int, int]) -> None:
    found = date_of_whole_text(text)
    assert found is not None
    assert (found.low, found.high) == expected


@pytest.mark.parametrize("text", ["Paris", "3,000 people", "1500 metres", "12345", "may", "Room 1961b", "", "50 %"])
def test_what_is_no_date(text: str) -> None:
    assert dates(text) == ()


def test_dates_inside_a_text_are_found_in_order() -> None:
    found = dates("He was born on May 3, 1920 in Rome, lived there in the 1950s and died in 1999.")
    assert [claim.text for claim in found] == ["May 3, 1920", "1950s", "1999"]


@pytest.mark.parametrize(
    "text",
    ["4 August 1961", "15 March 44 BC", "7 September 1630", "1 January 1900", "August 1961", "1815-06-18"],
)
def test_every_name_of_a_date_ladder_states_its_own_level(text: str) -> None:
    parsed = parse_date(text)
    assert parsed is not None
    levels = [[name for tier in level.tiers for name in tier.names()] for level in date_ladder(parsed)]
    assert len(levels) >= 4
    for number, names in enumerate(levels, start=1):
        for name in names:
            assert matcher("rules").match(name, levels).level == number
            assert matcher("rules").match(f"It was {name}.", levels).level == number
