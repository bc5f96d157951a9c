"""Reads wordings of dates and amounts as ranges, to recompute whether one contains another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from abstraction.text.language.amount_reader import ParsedQuantity, parse_quantity
from abstraction.text.language.calendar_units import CalendarUnit, unit_of
from abstraction.text.language.date_reader import parse_date
from abstraction.text.language.language_data import any_of
from abstraction.text.language.languages import folded, language
from abstraction.text.language.units import MeasureUnit
from kg.base.model import TimeValue

YEAR = 12 * 31  # days of a year in `calendar_units.day_number`, which counts 31 days per month


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A span of days from `first` to `last`, inclusive, as numbers of `calendar_units.day_number`."""

    first: int
    last: int
    loose: bool = False  # "circa", "late", "early"

    def contains(self, other: Span) -> bool:
        """Whether the other span lies inside; where either is an estimate, whether they overlap."""
        if self.loose or other.loose:
            return self.first <= other.last and other.first <= self.last
        return self.first <= other.first and other.last <= self.last


_SHORT = re.compile(r"(?:the )?(?P<year>\d{1,2})(?P<decade>'?s)?")  # an age is no date, but 41 lies in the 40s


def span_of_words(text: str, code: str = "en") -> Span | None:
    """The span of days of a wording in a language; None where it is not read as a date."""
    if short := _SHORT.fullmatch(text.strip()):
        # Two digits are read as years of the first century, which orders ages like dates.
        year = int(short["year"])
        decade = unit_of(TimeValue(year=year, precision=8)) if short["decade"] else None
        days = (decade or CalendarUnit("year", year)).days() if year else None
        return Span(first=days[0], last=days[1]) if days else None
    parsed = parse_date(text, code=code)
    if parsed is None:
        return None
    first, last = _first_and_last_day(parsed.first), _first_and_last_day(parsed.last or parsed.first)
    if first is None or last is None:
        return None
    return Span(first=first[0], last=last[1], loose=parsed.circa or bool(parsed.part))


def _first_and_last_day(value: TimeValue) -> tuple[int, int] | None:
    """The first and the last day of a value. Centuries begin a year early: most people count 2000 to the 21st century,
    the calendar to the 20th.
    """
    unit = unit_of(value)
    if unit is None:
        return None
    first, last = unit.days()
    return (first - YEAR if unit.kind in ("century", "millennium") and unit.number > 1 else first), last


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A range from `low` to `high`, inclusive. `unit` is None for counts and for units that no table contains."""

    low: Decimal
    high: Decimal
    unit: MeasureUnit | None = None


@lru_cache(maxsize=256)  # bounded, as language codes may come from users
def _bounds(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of "fewer than X" and "between X and Y" in a language."""
    words = language(code)
    between = re.escape(words.between) if words.between else "(?!)"
    return (
        re.compile(rf"(?:{any_of(words.fewer)})\s+(?P<number>.+)", re.IGNORECASE),
        re.compile(
            rf"{between}\s++(?P<low>.+?)(?<!\s)\s++{re.escape(words.joint_and.strip())}\s++(?P<high>(?s:.+))\Z",
            re.IGNORECASE,
        ),
    )


_NUMBER = re.compile(r"-?\d[\d,.]*+\Z")


def range_of_words(text: str, code: str = "en") -> Range | None:
    """The range of a wording; None where it is no amount. A rounded number means one unit of its last digit on either
    side.

    "between 10 and 100 million" begins at ten million, unlike "between 100,000 and 1 million".
    """
    if not any(letter.isdigit() for letter in text):
        return None  # "Six Degrees of Separation" is no amount
    if any(language(code).patterns[key].fullmatch(folded(text)) for key in ("decade", "short_decade")):
        return None  # "70er Jahre" is a decade, not 70 years
    fewer, between = _bounds(code)
    if match := fewer.match(text):
        most = parse_quantity(match["number"], code=code)
        return Range(low=Decimal(0), high=most.amount - 1) if most else None
    if match := between.match(text):
        low, high = (parse_quantity(match[end], code=code) for end in ("low", "high"))
        if low is None or high is None:
            return None
        begin = low.amount
        if (
            _NUMBER.match(match["low"])
            and (shared := _with_magnitude_of(match["low"], match["high"], code)) is not None
        ):
            begin = shared if shared < high.amount else begin
        return Range(low=begin, high=high.amount, unit=high.unit)
    amount = parse_quantity(text, code=code)
    if amount is None:
        return None
    slack = _last_place(amount) if amount.approximate else Decimal(0)
    return Range(low=amount.amount - slack, high=amount.amount + slack, unit=amount.unit)


def is_value(text: str) -> bool:
    """Whether a text is a date, a span of time or an amount."""
    return span_of_words(text) is not None or range_of_words(text) is not None


def _with_magnitude_of(number: str, text: str, code: str) -> Decimal | None:
    """The number with the magnitude of `text`: 10 with "100 million" is ten million."""
    counted = parse_quantity(re.sub(r"-?\d[\d,.]*", number, text, count=1), code=code)
    return counted.amount if counted else None


def _last_place(amount: ParsedQuantity) -> Decimal:
    """One unit of the last digit that is not zero, such as 100 for 1,200."""
    return Decimal(1).scaleb(int(amount.amount.normalize().as_tuple().exponent)) if amount.amount else Decimal(1)


def range_contains(outer: Range, inner: Range) -> bool:
    """Whether the outer range contains the inner one, in its own unit; conversions may be off by a hundredth."""
    if outer.unit is not None and inner.unit is not None and outer.unit.qid != inner.unit.qid:
        if outer.unit.dimension != inner.unit.dimension:
            return False
        low, high = (inner.unit.convert(end, outer.unit) for end in (inner.low, inner.high))
        tolerance = abs(outer.low) / 100
        return outer.low - tolerance <= low and high <= outer.high + tolerance
    return outer.low <= inner.low and inner.high <= outer.high
