"""Dates and amounts in text, and how what is said of them compares."""

from __future__ import annotations

from typing import Any

import pytest

from abstraction.ladders.dates import date_ladder, parse_date
from granola.matching import matcher
from granola.matching.amounts import amounts, whole_amount
from granola.matching.dates import dates, whole_date
from granola.matching.intervals import place


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
    found = whole_date(text)
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


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("8,849 m", 8848.5, 8849.5, "m"),
        ("about 8,850 metres", 8845, 8855, "m"),
        ("35 million", 34.5e6, 35.5e6, ""),
        ("35.4 million people", 35.35e6, 35.45e6, "people"),
        ("between 10 and 100 million", 10e6, 100e6, ""),
        ("three", 2.5, 3.5, ""),
        ("-12 °C", -12.5, -11.5, "c"),
        ("5 square kilometres", 4.5, 5.5, "km2"),
    ],
)
def test_an_amount_is_an_interval_that_its_rounding_leaves(text: str, low: float, high: float, unit: str) -> None:
    found = whole_amount(text)
    assert found is not None
    assert (found.low, found.high, found.label) == (pytest.approx(low), pytest.approx(high), unit)


@pytest.mark.parametrize("text", ["Apollo 11", "50 Cent", "3 Doors Down", "Paris", "Henry 8 of England"])
def test_names_with_numbers_are_no_amounts(text: str) -> None:
    assert whole_amount(text) is None


LADDER = ["8,849 m", "about 8,850 m", "about 8,800 m", "about 9,000 m"]


@pytest.mark.parametrize(
    ("said", "level", "how"),
    [
        ("8849", 0, "equal"),
        ("8850 metres", 1, "equal"),
        ("9 thousand metres", 3, "equal"),
        ("8,848", None, "conflict"),  # close, but no rounding of 8,849
        ("8,611 m", None, "conflict"),  # K2: rounds to the coarsest tier, and is wrong
        ("fewer than 20,000", None, "coarser-than-all"),
    ],
)
def test_amounts_are_placed_on_a_ladder(said: str, level: int | None, how: str) -> None:
    ladder: Any = [[whole_amount(tier)] for tier in LADDER]
    placing = place(amounts(said)[0], ladder)
    assert placing is not None
    assert (placing.level, placing.how) == (level, how)


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("about 29,000 feet", "8848 metres", 1),  # two digits of it
        ("1.4 billion people", "1,412,000,000", 1),
        ("1 billion people", "1,412,000,000", None),
        ("10,000 feet", "3000 m", 1),
        ("8,000 feet", "3000 m", None),  # a round gold answer leaves less open in other units
        ("161 km/h", "100 mph", 1),
        ("100 km/h", "100 mph", None),
        ("62 mph", "100 km/h", 1),
        ("32 °F", "0 °C", 1),
    ],
)
def test_amounts_are_compared_as_their_digits_and_units_say(said: str, gold: str, level: int | None) -> None:
    assert matcher("rules").match(said, [[gold]]).level == level


def test_amounts_of_other_units_do_not_compare() -> None:
    ladder: Any = [[whole_amount("8,849 m")]]
    assert place(amounts("8,849 feet")[0], ladder) is None


OBAMA = [["4 August 1961"], ["August 1961"], ["1961"], ["the 1960s"]]


@pytest.mark.parametrize(
    ("said", "levels", "level", "rule"),
    [
        ("Not in 1961", OBAMA, None, "negated"),
        ("He was born in 1962, not 1961", OBAMA, None, "date:conflict"),
        ("He wasn't born in August 1961", OBAMA, None, "negated"),
        ("in 1961, not in 1962", OBAMA, 3, "date:equal"),
        ("not in 1962 but in August 1961", OBAMA, 2, "date:equal"),
        ("not until 1961", OBAMA, 3, "date:equal"),
        ("no doubt in 1961", OBAMA, 3, "date:equal"),
        ("the late 1400s", [["1492"], ["15th century"]], 2, "date:between-tiers"),
        ("the early 1400s", [["1492"], ["15th century"]], None, "date:conflict"),
        ("not 42", [["42"], ["about 40"]], None, "negated"),
        ("41, not 42", [["42"], ["about 40"]], None, "amount:conflict"),
        ("42, not 41", [["42"], ["about 40"]], 1, "amount:equal"),
        ("5 August 1961, i.e. in 1961", OBAMA, None, "date:conflict"),
        ("5 August, 1961, in the 1960s", OBAMA, None, "date:conflict"),
        ("4 August 1961, i.e. in 1961", OBAMA, 1, "date:equal"),
        ("He was born in 1961 and elected in 2008", OBAMA, 3, "date:equal"),
        ("8,848 m, so about 8,800 m", [["8,849 m"], ["about 8,800 m"]], None, "amount:conflict"),
        ("between 100 and 3,000 m in 1990", [["120 m"], ["between 100 and 3,000 m"]], 2, "amount:equal"),
        ("nineteen sixty-one", OBAMA, 3, "date:equal"),
        ("He was born in August nineteen sixty-one.", OBAMA, 2, "date:equal"),
        ("July nineteen sixty-one", OBAMA, None, "date:conflict"),
    ],
)
def test_what_is_denied_or_wrong_in_the_finer_is_not_credited(
    said: str, levels: list[list[str]], level: int | None, rule: str
) -> None:
    verdict = matcher("rules").match(said, levels)
    assert (verdict.level, verdict.rule) == (level, rule)
    assert verdict.compared is not None
    assert verdict.compared.prediction in said


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("nineteen sixty-one", 1961),
        ("nineteen-oh-five", 1905),
        ("seventeen hundred", 1700),
        ("eighteen hundred and twelve", 1812),
        ("eighteen twelve", 1812),
        ("two thousand and eight", 2008),
        ("twenty twenty-one", 2021),
    ],
)
def test_a_year_in_words_is_a_year(text: str, year: int) -> None:
    found = whole_date(text)
    assert found is not None
    assert (found.low, found.high, found.text) == (*years(year, year), text)


@pytest.mark.parametrize(
    "text", ["nineteen", "twenty-one", "Twenty-One Pilots", "nineteen hundred people", "sixty-one"]
)
def test_number_words_that_are_no_year(text: str) -> None:
    assert dates(text) == ()
