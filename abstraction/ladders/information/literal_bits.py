"""Bits of dates and quantities, from the calendar and from the width of an interval.

A date is drawn from the days of its relation's years. A date outside of them is drawn from the common era up to the
same last year, or else from a span of a power of ten of years, at least ten thousand. A quantity lies anywhere on a
logarithmic scale of its relation's powers of ten, so that the bits of an interval depend on its relative width alone;
counts below twenty, including zero, lie on the same scale shifted by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from abstraction.base.properties import package_data
from abstraction.base.tiers import Condition, Level
from abstraction.text.language.amount_reader import ParsedQuantity
from abstraction.text.language.calendar_units import tolerance
from abstraction.text.language.date_reader import ParsedDate
from kg.base.model import TimeValue
from kg.graph.ranks import time_key

ANCIENT = 10_000  # years, the least span for dates before the common era
YEAR = 365.2425  # days, the mean of the Gregorian calendar
_UNITS = {"decade": 10, "century": 100, "millennium": 1000}  # years
_EDGE = 10  # years of the beginning or the end of a century
_DATE = re.compile(r"-?\d+(?:-\d\d){0,2}")
# States of tiers of amounts, as builders write them.
_ROUNDED = re.compile(r"(?P<amount>-?[\d.]+) to (?P<digits>\d+) digits")
_BETWEEN = re.compile(r"(?P<low>-?[\d.]+) to (?P<high>-?[\d.]+)")
_SMALL = 20  # smaller counts are on the shifted scale


def years_of(relation: str) -> int:
    """The number of years that dates of a relation are drawn from."""
    first, last = _year_span(relation)
    return last - first + 1


def _year_span(relation: str) -> tuple[int, int]:
    years = package_data("spreads.json")["years"]
    first, last = years.get(relation, years["default"])
    return first, last


def with_date_bits(parsed: ParsedDate, levels: Sequence[Level], relation: str) -> tuple[Level, ...]:
    """The levels of a date, the answer first, with bits: log2 of the days it is drawn from over the days it covers."""
    return _with_bits(levels, _years_drawn_from(parsed, relation) * YEAR, _days_of_answer(parsed), _days_of_condition)


def with_quantity_bits(parsed: ParsedQuantity, levels: Sequence[Level], relation: str) -> tuple[Level, ...]:
    """The levels of an amount, the answer first, with bits: log2 of the scale's width over the interval's."""
    decades_of = package_data("spreads.json")["decades"]
    decades = decades_of.get(relation, decades_of["default"])
    small = parsed.unit is None and 0 <= parsed.amount < _SMALL and parsed.amount == parsed.amount.to_integral_value()
    if small:
        # From n - 0.5 to n + 0.5, on the scale shifted by one.
        answer_width = math.log10(float(parsed.amount) + 1.5) - math.log10(float(parsed.amount) + 0.5)
    else:
        # The uncertainty of the answer: its bound, else half a unit of its last digit, a whole one if approximate.
        unit = Decimal(1).scaleb(parsed.amount.adjusted() - max(parsed.digits, 1) + 1)
        bound = parsed.bound or (unit if parsed.approximate else unit / 2)
        answer_width = _width(parsed.amount - bound, parsed.amount + bound, decades)
    return _with_bits(levels, decades, answer_width, lambda state: _width_of_condition(state, decades))


def _with_bits(
    levels: Sequence[Level], whole: float, answer_width: float, width: Callable[[str], float | None]
) -> tuple[Level, ...]:
    def bits(part: float | None) -> float | None:
        return None if not part else max(0.0, math.log2(whole / part))

    def coarser(states: Iterable[Condition]) -> float | None:
        """The narrowest width that the conditions state.

        It is at least that of the answer, since a mean decade may be some hours shorter than ten real years.
        """
        widths = (width(condition.value) for condition in states)
        part = min((stated for stated in widths if stated is not None), default=None)
        return max(part, answer_width) if part else part

    first = Level(tiers=tuple(replace(tier, bits=bits(answer_width)) for tier in levels[0].tiers))
    return (
        first,
        *(
            Level(tiers=tuple(replace(tier, bits=bits(coarser(tier.conditions))) for tier in level.tiers))
            for level in levels[1:]
        ),
    )


def _years_drawn_from(parsed: ParsedDate, relation: str) -> int:
    """The number of years that the date is drawn from."""
    years = [value.year for value in (parsed.first, parsed.last) if value is not None]
    first, last = _year_span(relation)
    if first <= min(years) and max(years) <= last:
        return last - first + 1
    if min(years) >= 1 and max(years) <= last:
        return last
    age = ANCIENT
    while age < max(map(abs, years)):  # the next power of ten
        age *= 10
    return age


def _days_of_answer(parsed: ParsedDate) -> float:
    """The number of days that the answer itself covers."""
    first, last = parsed.first, parsed.last
    if last is not None:
        days = _day_number(time_key(last, late=True)) - _day_number(time_key(first)) + 1
        return days + (2 * tolerance(first.year) * YEAR if parsed.circa else 0)
    if parsed.circa:
        if first.precision > 9:
            return YEAR
        around = {8: 10, 7: 100}.get(first.precision) or tolerance(first.year)  # years, by precision: decade, century
        return _unit_days(first) + 2 * around * YEAR
    return _unit_days(first) / (3 if parsed.part else 1)  # early, mid or late: a third of the unit


def _unit_days(value: TimeValue) -> float:
    if value.precision >= 11:
        return 1.0
    # Precision 11 is a day, 10 a month, 9 a year, 8 a decade.
    return YEAR / 12 if value.precision == 10 else YEAR * 10 ** (9 - value.precision)


def _day_number(key: tuple[int, int, int]) -> float:
    year, month, day = key
    return (year if year > 0 else year + 1) * YEAR + (month - 1) * YEAR / 12 + day  # there is no year 0


def _days_of_condition(state: str) -> float | None:
    if _DATE.fullmatch(state):
        return (YEAR, YEAR / 12, 1.0)[state.lstrip("-").count("-")]
    if " of " in state:
        return _EDGE * YEAR
    sizes = [_UNITS.get(unit.split(" ")[0]) for unit in state.split(" or ")]
    known = [size for size in sizes if size is not None]
    return sum(known) * YEAR if len(known) == len(sizes) else None


def _width(low: Decimal, high: Decimal, decades: float) -> float:
    """Powers of ten between two amounts of one sign; an interval that reaches zero begins at half its middle."""
    if high < 0:
        low, high = -high, -low
    middle = (low + high) / 2
    return math.log10(high) - math.log10(low if low > 0 else middle / 2) if middle > 0 else decades


def _width_of_condition(state: str, decades: float) -> float | None:
    state = state.replace(",", "")
    if match := _ROUNDED.fullmatch(state):
        amount = Decimal(match["amount"])
        unit = Decimal(1).scaleb(amount.adjusted() - int(match["digits"]) + 1)
        return _width(amount - unit, amount + unit, decades)
    if match := _BETWEEN.fullmatch(state):
        return _width(Decimal(match["low"]), Decimal(match["high"]), decades)
    return None
