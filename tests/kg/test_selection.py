"""Which statements count: the order of times, what holds today, what held then."""

from __future__ import annotations

import pytest
from hypothesis import given
from store_contract import statement
from strategies import times

from kg.base.model import Rank, Snak, SnakKind, Statement, TimeValue
from kg.graph.graph import current, statements_valid_at, time_key, valid_at


def year(number: int, precision: int = 9) -> TimeValue:
    return TimeValue(year=number, precision=precision)


def when(target: str, n: int = 0, *, rank: Rank = Rank.NORMAL, **times: TimeValue | None) -> Statement:
    """A statement with start, end and point qualifiers; None is an unknown time."""
    names = {"start": "P580", "end": "P582", "point": "P585", "disputed": "P1310", "hedged": "P1480"}
    qualifiers = tuple(
        Snak(property=names[name], kind=SnakKind.VALUE if time else SnakKind.SOMEVALUE, value=time)
        for name, time in times.items()
    )
    return statement("Q1", "P17", target, n, rank=rank, qualifiers=qualifiers)


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        (TimeValue(year=1961, month=8, day=4), (1961, 8, 4), (1961, 8, 4)),
        (TimeValue(year=1961, month=8, precision=10), (1961, 8, 1), (1961, 8, 31)),
        (year(1961), (1961, 1, 1), (1961, 12, 31)),
        (year(1961, 8), (1960, 1, 1), (1969, 12, 31)),
        (year(1960, 8), (1960, 1, 1), (1969, 12, 31)),
        (year(1902, 7), (1901, 1, 1), (2000, 12, 31)),
        (year(2000, 7), (1901, 1, 1), (2000, 12, 31)),
        (year(1994, 6), (1001, 1, 1), (2000, 12, 31)),
        (year(12_000, 5), (10_001, 1, 1), (20_000, 12, 31)),
        (year(-44), (-44, 1, 1), (-44, 12, 31)),
        (year(-44, 8), (-49, 1, 1), (-40, 12, 31)),
        (year(-4, 8), (-9, 1, 1), (-1, 12, 31)),
        (year(4, 8), (1, 1, 1), (9, 12, 31)),
        (year(-44, 7), (-100, 1, 1), (-1, 12, 31)),
        (year(-100, 7), (-100, 1, 1), (-1, 12, 31)),
        (year(-13_798_000_000, 3), (-13_798_000_000, 1, 1), (-13_797_000_001, 12, 31)),
    ],
)
def test_the_first_and_last_day_of_a_time(
    value: TimeValue, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert time_key(value) == first
    assert time_key(value, late=True) == last


@given(times())
def test_a_time_lies_within_its_own_span(value: TimeValue) -> None:
    assert time_key(value)[0] <= value.year <= time_key(value, late=True)[0]
    assert time_key(value) <= time_key(value, late=True)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([when("Q2"), when("Q3")], ["Q2", "Q3"]),
        ([when("Q2"), when("Q3", rank=Rank.PREFERRED)], ["Q3"]),
        ([when("Q2", rank=Rank.DEPRECATED)], []),
        ([when("Q2", end=year(1990)), when("Q3")], ["Q3"]),
        ([when("Q2", end=None), when("Q3")], ["Q3"]),
        ([when("Q2", rank=Rank.PREFERRED, end=year(1990)), when("Q3")], []),  # nothing holds today for sure
        ([when("Q2", disputed=None), when("Q3")], ["Q3"]),
        ([when("Q2", disputed=None)], ["Q2"]),
        ([when("Q2", hedged=None)], []),
        ([when("Q99"), when("Q3")], ["Q3"]),
        ([when("Q99")], ["Q99"]),
        ([], []),
    ],
)
def test_what_holds_today(statements: list[Statement], expected: list[str]) -> None:
    assert [s.target for s in current(statements, historical=lambda target: target == "Q99")] == expected


def test_absent_and_unknown_values_never_hold() -> None:
    kinds = (SnakKind.NOVALUE, SnakKind.SOMEVALUE)
    assert current([Statement(id="x", subject="Q1", property="P17", kind=kind) for kind in kinds]) == []


def test_a_stated_absence_of_an_end_is_no_end() -> None:
    open_end = statement("Q1", "P17", "Q2", qualifiers=(Snak(property="P582", kind=SnakKind.NOVALUE),))
    assert current([open_end]) == [open_end]


@pytest.mark.parametrize(
    ("given_times", "at", "expected"),
    [
        ({"start": year(1949), "end": year(1990)}, year(1960), True),
        ({"start": year(1949), "end": year(1990)}, year(1990), True),
        ({"start": year(1949), "end": year(1990)}, year(1991), False),
        ({"start": year(1949), "end": year(1990)}, year(1948), False),
        ({"start": year(1949)}, year(2020), True),
        ({"end": year(-30)}, year(-44), True),
        ({"point": year(1960, 8)}, year(1965), True),
        ({"point": year(1960)}, year(1965), False),
        ({}, year(1965), None),
        ({"start": None}, year(1965), None),
    ],
)
def test_what_held_then(given_times: dict[str, TimeValue | None], at: TimeValue, expected: bool | None) -> None:
    one = when("Q2", **given_times)
    assert valid_at(one, at) is expected
    assert statements_valid_at([one], at) == ([one] if expected else [])
