"""Date texts, calendar units and the ladders over them. Expected values are hand-made from the calendar."""

from __future__ import annotations

import pytest

from abstraction.base.tiers import Evidence
from abstraction.ladders.literal_ladders import date_ladder
from abstraction.text.language.calendar_dates import CalendarUnit, julian_to_gregorian, parse_date
from kg.base.model import TimeValue, normalise
from tests.cases import shown
from tests.date_values import time_value_ladder
from tests.tables import read_table

DAY_1961 = (1961, 8, 4, 11)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("August 4, 1961", DAY_1961),
        ("4 August 1961", DAY_1961),
        ("4th of August 1961", DAY_1961),
        ("4th of August, 1961", DAY_1961),
        ("Aug. 4th, 1961", DAY_1961),
        ("Friday, August 4, 1961", DAY_1961),
        ("on 4 August 1961.", DAY_1961),
        ("1961-08-04", DAY_1961),
        ("+1961-08-04T00:00:00Z", DAY_1961),
        ("1961/8/4", DAY_1961),
        ("25/12/1961", (1961, 12, 25, 11)),
        ("12/25/1961", (1961, 12, 25, 11)),
        ("5.5.1961", (1961, 5, 5, 11)),
        ("August 1961", (1961, 8, None, 10)),
        ("August, 1961", (1961, 8, None, 10)),
        ("1961-08", (1961, 8, None, 10)),
        ("1961", (1961, None, None, 9)),
        ("in the year 476", (476, None, None, 9)),
        ("1961-00-00", (1961, None, None, 9)),
        ("1961-01-01T00:00:00Z", (1961, None, None, 9)),
        ("the 1960s", (1960, None, None, 8)),
        ("1960’s", (1960, None, None, 8)),
        ("the 1900s", (1900, None, None, 8)),
        ("60s BC", (-60, None, None, 8)),
        ("19th century", (1900, None, None, 7)),
        ("the twenty-first century", (2100, None, None, 7)),
        ("5th century BCE", (-500, None, None, 7)),
        ("1st millennium BC", (-1000, None, None, 6)),
        ("44 BC", (-44, None, None, 9)),
        ("44BC", (-44, None, None, 9)),
        ("March 15, 44 BCE", (-44, 3, 15, 11)),
        ("15 March 44 B.C.E.", (-44, 3, 15, 11)),
        ("AD 79", (79, None, None, 9)),
        ("A.D. 79", (79, None, None, 9)),
        ("24 August 79 CE", (79, 8, 24, 11)),
        ("29 February 1900", (1900, 2, 29, 11)),  # a day of the Julian calendar
    ],
)
def test_one_date(text: str, expected: tuple[int, int | None, int | None, int]) -> None:
    parsed = parse_date(text)
    assert parsed is not None
    value = parsed.first
    assert (value.year, value.month, value.day, value.precision) == expected
    assert parsed.last is None
    assert not parsed.circa


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "March", "12", "79", "03/04/1961", "3.4.1961", "'60s", "60s", "1906-08",
        "30 February 1961", "29 February 1961", "April 31, 1990", "13/13/1961", "since 1961", "1914–",
        "before 1900", "winter 1961", "1918-1914", "August 1961 and a half", "0", "-0044-03-15",
        "8848 m", "4 August", "1" * 500,
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1914–1918", (1914, None), (1918, None)),
        ("1914-18", (1914, None), (1918, None)),
        ("from 1914 to 1918", (1914, None), (1918, None)),
        ("between 1914 and 1918", (1914, None), (1918, None)),
        ("1795/96", (1795, None), (1796, None)),
        ("July–August 1914", (1914, 7), (1914, 8)),
        ("100–44 BC", (-100, None), (-44, None)),
        ("44 BC – AD 14", (-44, None), (14, None)),
        ("18th–19th century", (1800, None), (1900, None)),
    ],
)
def test_ranges(text: str, first: tuple[int, int | None], last: tuple[int, int | None]) -> None:
    parsed = parse_date(text)
    assert parsed is not None
    assert parsed.last is not None
    assert (parsed.first.year, parsed.first.month) == first
    assert (parsed.last.year, parsed.last.month) == last


@pytest.mark.parametrize("text", ["4–6 August 1961", "August 4-6, 1961", "4 August to 6 August 1961"])
def test_ranges_of_days(text: str) -> None:
    parsed = parse_date(text)
    assert parsed is not None
    assert parsed.last is not None
    assert (parsed.first.day, parsed.last.day) == (4, 6)
    assert shown(date_ladder(parsed))[1:] == ["August 1961", "1961", "the 1960s", "the 20th century"]


@pytest.mark.parametrize(("text", "above"), read_table("date_ladders"))
def test_ladders(text: str, above: list[str]) -> None:
    parsed = parse_date(text)
    assert parsed is not None
    assert shown(date_ladder(parsed)) == [text, *above]


def test_answer_keeps_its_text_and_knows_other_styles() -> None:
    parsed = parse_date("August 4, 1961")
    assert parsed is not None
    answer = date_ladder(parsed)[0].tiers[0]
    assert answer.text == "August 4, 1961"
    assert {"4 August 1961", "1961-08-04", "4th of August 1961", "August 4th, 1961"} <= set(answer.aliases)
    assert len({normalise(name) for name in answer.names()}) == len(answer.names())


@pytest.mark.parametrize(
    ("text", "level", "alias"),
    [
        ("1961", 1, "1960s"),
        ("1961", 2, "twentieth century"),
        ("44 BC", 2, "1st century BCE"),
        ("44 BCE", 1, "40s BC"),
        ("AD 79", 2, "1st century CE"),
    ],
)
def test_other_names_of_units(text: str, level: int, alias: str) -> None:
    parsed = parse_date(text)
    assert parsed is not None
    assert alias in date_ladder(parsed)[level].names()


# Both pairs are in every almanac: the reform's own days, and Newton's birthday in both calendars.
@pytest.mark.parametrize(
    ("julian", "gregorian"),
    [((1582, 10, 5), (1582, 10, 15)), ((1642, 12, 25), (1643, 1, 4)), ((-44, 3, 15), (-44, 3, 13)),
     ((1, 1, 1), (-1, 12, 30)), ((1917, 10, 25), (1917, 11, 7))],
)  # fmt: skip
def test_gregorian_equivalent(julian: tuple[int, int, int], gregorian: tuple[int, int, int]) -> None:
    year, month, day = julian
    found = julian_to_gregorian(TimeValue(year=year, month=month, day=day, calendar="julian"))
    assert found is not None
    assert (found.year, found.month, found.day) == gregorian


def test_julian_day_over_new_year_states_both_months_and_years() -> None:
    levels = time_value_ladder(TimeValue(year=1642, month=12, day=25, calendar="julian"))
    assert "4 January 1643" in levels[0].tiers[0].aliases
    assert shown(levels)[1:] == [
        "December 1642 | January 1643", "1642 | 1643", "the 1640s", "the 17th century",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (TimeValue(year=1891, month=2, day=15),
         ["15 February 1891", "February 1891", "1891", "the 1890s", "the 19th century"]),
        (TimeValue(year=1960, precision=9), ["1960", "the 1960s", "the 20th century"]),
        (TimeValue(year=1994, precision=7), ["the 20th century"]),
        (TimeValue(year=2000, precision=7), ["the 20th century"]),
        (TimeValue(year=1905, precision=8), ["the 1900s", "the 20th century"]),
        (TimeValue(year=-430, precision=7), ["the 5th century BC", "the 1st millennium BC"]),
        (TimeValue(year=-66_000_000, precision=3), ["66 million years ago"]),
    ],
)  # fmt: skip
def test_values_of_the_graph(value: TimeValue, expected: list[str]) -> None:
    assert shown(time_value_ladder(value)) == expected


def test_evidence_names_the_rule_and_the_statement() -> None:
    given_ = Evidence(kind="statement", subject="Q76", property="P569", value="1961-08-04")
    parsed = parse_date("August 4, 1961")
    assert parsed is not None
    levels = date_ladder(parsed, subject_evidence=given_)
    assert levels[0].tiers[0].evidence == (given_,)
    for level in levels[1:]:
        statement, rule = level.tiers[0].evidence
        assert statement is given_
        assert rule.kind == "rule"
    assert "1901–2000" in (levels[-1].tiers[0].evidence[-1].text or "")


def test_centuries_begin_with_year_one() -> None:
    assert CalendarUnit("century", 20).first_year() == 1901
    assert CalendarUnit("century", -1).first_year() == -100
    assert CalendarUnit("decade", -40).first_year() == -49
    assert CalendarUnit("millennium", 3).first_year() == 2001


def test_a_month_of_the_first_years_is_not_called_like_a_day() -> None:
    levels = time_value_ladder(TimeValue(year=5, month=1, precision=10))
    assert "January 5 AD" in levels[0].names()
    assert "January 5" not in levels[0].names()
