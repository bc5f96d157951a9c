"""Laws of dates: what is rendered reads back, units hold their years, no text breaks reading."""

from __future__ import annotations

import datetime
import itertools

from hypothesis import given
from hypothesis import strategies as st

from abstraction.ladders.literal_ladders import date_ladder
from abstraction.text.language.calendar_dates import KINDS, Era, calendar_unit_of, names_of_unit, parse_date
from kg.base.model import TimeValue, normalise
from tests.date_values import time_value_ladder

DAYS = st.dates(datetime.date(10, 1, 1), datetime.date(9999, 12, 31))
YEARS = st.integers(-9999, 9999).filter(bool)


@given(DAYS, st.sampled_from(["day-first", "month-first"]))
def test_a_rendered_day_reads_back(day: datetime.date, style: str) -> None:
    value = TimeValue(year=day.year, month=day.month, day=day.day)
    levels = time_value_ladder(value, style="month-first" if style == "month-first" else "day-first")
    for position, precision in ((0, 11), (1, 10)):
        for name in levels[position].names():
            parsed = parse_date(name)
            if day.year < 100 and parsed is None:
                continue  # a bare "79" says too little to read
            if parsed is None and name == day.strftime("%Y-%m"):
                continue  # 2001-02 could be two years
            assert parsed is not None, name
            assert (parsed.first.year, parsed.first.month) == (day.year, day.month)
            assert parsed.first.precision == precision
            assert parsed.first.day == (day.day if precision == 11 else None)


@given(YEARS)
def test_a_rendered_year_and_its_units_read_back(year: int) -> None:
    value = TimeValue(year=year, precision=9)
    for level in time_value_ladder(value):
        for tier in level.tiers:
            parsed = parse_date(tier.text)
            if parsed is None or parsed.part:
                assert parsed or abs(year) < 100
                continue
            unit = calendar_unit_of(parsed.first)
            assert unit is not None
            late = unit.kind == "century" and year > 0 and year % 100 == 0  # 2000 is said of both centuries
            assert unit.first_year() - late <= year <= unit.last_year()


@given(
    YEARS,
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(7, 11),
    st.sampled_from(["gregorian", "julian"]),
)
def test_laws_of_a_ladder(year: int, month: int, day: int, precision: int, calendar: str) -> None:
    value = TimeValue(
        year=year,
        month=month if precision >= 10 else None,
        day=day if precision == 11 else None,
        precision=precision,
        calendar=calendar,
    )
    levels = time_value_ladder(value)
    assert 1 <= len(levels) <= 6
    assert levels == time_value_ladder(value)
    for finer, coarser in itertools.pairwise(levels[1:]):
        for tier in coarser.tiers:
            assert any(below.conditions >= tier.conditions for below in finer.tiers)
    texts = [normalise(tier.text) for level in levels for tier in level.tiers]
    assert len(set(texts)) == len(texts)


@given(YEARS, st.sampled_from(KINDS[2:-1]))
def test_a_unit_holds_its_year(year: int, kind: str) -> None:
    unit = calendar_unit_of(TimeValue(year=year, precision=9), next(k for k in KINDS if k == kind))
    if unit is None:
        assert kind == "decade"
        assert abs(year) < 10
        return
    assert unit.first_year() <= year <= unit.last_year()
    assert names_of_unit(unit, era=Era())


WORDS = (
    "4", "04", "31", "0", "00", "1961", "44", "BC", "AD", "CE", "c.", "circa", "the", "August", "Aug.", "4th", "1st",
    "century", "centuries", "millennium", "1960s", "'60s", "–", "-", "to", "between", "and", "from", "early", "late",
    "summer", "(O.S.)", "/", ",", ".", "1961-08-04", "-0044", "0th", "٣", "two", "m", "±", "%", "$", "1e5", "hundred",
)  # fmt: skip


@given(st.one_of(st.text(max_size=90), st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)))
def test_no_text_breaks_reading(text: str) -> None:
    if (parsed := parse_date(text)) is not None:
        assert date_ladder(parsed)[0].tiers[0].text == text.strip()
