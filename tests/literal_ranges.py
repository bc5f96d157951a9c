"""Spans of days and ranges of amounts that English wordings mean: a second reader, without the code of ladders."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from abstraction.text.language.units import MeasureUnit, units
from kg.base.terms import normalise

# Ranges of amounts that English wordings mean, to recompute the arithmetic of quantity tiers.

_POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NUMBER = r"-?\d[\d,]*+(?:\.\d++)?+(?:[eE][+-]?\d++)?+"
_AMOUNT = re.compile(
    rf"(?P<about>(?:about|approximately|around|roughly)\s++)?(?P<before>[^\w\s.-]|[a-z]{{1,3}}[$])?\s*+(?P<number>{_NUMBER})"
    rf"(?:\s++(?P<power>{'|'.join(_POWERS)}))?\s*+(?P<rest>\D*+)\Z"
)
_BETWEEN = re.compile(r"between\s++(?P<low>.+?)(?<!\s)\s++and\s++(?P<high>(?s:.+))\Z")
_FEWER = re.compile(rf"(?:fewer than|less than|under)\s+(?P<number>{_NUMBER})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """From `low` to `high`, both included. `unit` is None for counts and for units that no table knows."""

    low: Decimal
    high: Decimal
    unit: MeasureUnit | None = None


def range_of_words(text: str) -> Range | None:
    """The range that a wording means: a rounded number stands for one unit of its last digit on either side."""
    words = normalise(text)
    if match := _FEWER.match(words):
        high = _decimal(match["number"])
        return Range(low=Decimal(0), high=high - 1) if high is not None else None
    if match := _BETWEEN.match(words):
        high_part = _AMOUNT.match(match["high"])
        low_part = _AMOUNT.match(match["low"])
        if not high_part or not low_part:
            return None
        low, high_end = _amount(low_part, None), _amount(high_part, None)
        shared = None if low_part["power"] else _amount(low_part, high_part["power"])
        if shared is not None and high_end is not None and shared < high_end:
            low = shared  # "between 10 and 100 million", unlike "between 100,000 and 1 million"
        if low is None or high_end is None:
            return None
        return Range(low=low, high=high_end, unit=_unit(high_part))
    match = _AMOUNT.match(words)
    amount = _amount(match, None) if match else None
    if match is None or amount is None:
        return None
    slack = Decimal(1).scaleb(_last_digit(amount)) if match["about"] else Decimal(0)
    return Range(low=amount - slack, high=amount + slack, unit=_unit(match))


def holds(outer: Range, inner: Range) -> bool:
    """Whether the outer range holds the inner one, in its own unit; conversions may be rounded to a hundredth."""
    if outer.unit is not None and inner.unit is not None and outer.unit.qid != inner.unit.qid:
        if outer.unit.dimension != inner.unit.dimension:
            return False
        low, high = (inner.unit.convert(end, outer.unit) for end in (inner.low, inner.high))
        tolerance = abs(outer.low) / 100
        return outer.low - tolerance <= low and high <= outer.high + tolerance
    return outer.low <= inner.low and inner.high <= outer.high


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def _amount(match: re.Match[str], power: str | None) -> Decimal | None:
    number = _decimal(match["number"])
    return None if number is None else number.scaleb(_POWERS.get(match["power"] or power or "", 0))


def _last_digit(amount: Decimal) -> int:
    """The power of ten of the last digit that is no zero."""
    return int(amount.normalize().as_tuple().exponent) if amount else 0


def _unit(match: re.Match[str]) -> MeasureUnit | None:
    words = (match["rest"] or "").strip()
    for unit in units().values():
        if words in {normalise(s) for s in unit.spellings} or (match["before"] and match["before"] in unit.before):
            return unit
    return None


# Spans of days.


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
            ("july", "jul"), ("august", "aug"), ("september", "sep", "sept"), ("october", "oct"), ("november", "nov"),
            ("december", "dec"),
        ),
        1,
    )
    for name in names
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ERA = r"(?:\s*(?P<era>bce|bc|b\.c\.e\.|b\.c\.|ce|ad|a\.d\.|c\.e\.))?"
_YEAR = r"(?:ad\s+)?(?P<year>\d{1,4})"
_FORMS = tuple(
    re.compile(rf"(?:on |in )?(?:the )?(?:year )?{form}{_ERA}\Z")
    for form in (
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\.?,?\s+{_YEAR}",
        rf"(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"(?P<month>{_MONTH})\.?,?\s+(?:of\s+)?{_YEAR}",
        r"(?P<sign>-)?(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})",
        r"(?P<sign>-)?(?P<year>\d{4})-(?P<month>\d{2})",
        r"(?P<decade>\d{1,4})'?s",
        r"(?P<decade>\d{1,4})'?s decade",
        r"(?P<century>\d{1,2})(?:st|nd|rd|th) century",
        r"(?P<millennium>\d)(?:st|nd|rd|th) millennium",
        rf"(?P<sign>-)?{_YEAR}",
    )
)
_CIRCA = re.compile(r"^(?:c\.|ca\.?|circa|about|around|approximately)\s*")
_EDGE = re.compile(r"^(?:the )?(?:end of the|late|beginning of the|early|mid(?:dle of the)?[ -])\s*(?=\S)")
_WORDS = {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th", "seventh": "7th",
    "eighth": "8th", "ninth": "9th", "tenth": "10th", "eleventh": "11th", "twelfth": "12th", "thirteenth": "13th",
    "fourteenth": "14th", "fifteenth": "15th", "sixteenth": "16th", "seventeenth": "17th", "eighteenth": "18th",
    "nineteenth": "19th", "twentieth": "20th", "twenty-first": "21st",
}  # fmt: skip
_DAY_BEHIND = re.compile(
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?P<month>{_MONTH})|(?:{_MONTH})\.?\s+\d{{1,2}})\.?,?\s+(?P<year>\d{{3,4}})\b"
)
_DAY_ALONE = re.compile(r"\d{1,2}(?:st|nd|rd|th)?\Z")
_DAY_OF_MONTH = re.compile(rf"(?:\d{{1,2}}\s+(?:{_MONTH})|(?:{_MONTH})\.?\s+\d{{1,2}})\Z")
Day = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """From the first day to the last, both included, as (astronomical year, month, day); 0 is 1 BCE."""

    first: Day
    last: Day
    loose: bool = False  # "circa", "late", "early"

    def holds(self, other: Span) -> bool:
        """Whether the other span lies inside; for an estimate whether they meet."""
        if self.loose or other.loose:
            return self.first <= other.last and other.first <= self.last
        return self.first <= other.first and other.last <= self.last


def span_of_words(text: str) -> Span | None:
    """The days that a wording means; None where it is none of the known forms."""
    words = normalise(text)
    for spelled, short in _WORDS.items() if " century" in words or " millennium" in words else ():
        words = re.sub(rf"\b{spelled}(?= (?:century|millennium))", short, words)
    bare = _CIRCA.sub("", words)
    inner = _EDGE.sub("", bare)
    loose = inner != words
    parts = re.split(r"(?:(?<!\s)\s++)?(?:–|\bto\b|\bor\b)\s*+|(?<=\d{4})\s*+-\s*+(?=\d{4})", inner)
    if len(parts) == 2:
        ends = _pair(*parts)
        return Span(first=ends[0].first, last=ends[1].last, loose=loose or " or " in inner) if ends else None
    span = _span_of_part(inner)
    return Span(first=span.first, last=span.last, loose=loose) if span else None


def _pair(left: str, right: str) -> tuple[Span, Span] | None:
    left, right = _completed(_EDGE.sub("", left), _EDGE.sub("", right)), _EDGE.sub("", right)
    end = _span_of_part(right)
    tail = re.search(r"(?: century| millennium)?(?:(?:(?<!\s)\s++)?(?:bce|bc|ce|ad))?$", right)
    begin = _span_of_part(left) or (_span_of_part(left + tail[0]) if tail else None)
    if tail and re.search(r"bc", tail[0]) and not re.search(r"bc|ad|ce\b", left):
        begin = _span_of_part(f"{left} bc")
    return (begin, end) if begin and end else None


def _completed(left: str, right: str) -> str:
    """The first of two days with the month and the year that stand only behind the second: "13 to 22 June 2012"."""
    match = _DAY_BEHIND.match(right)
    if match is None:
        return left
    if match["month"] and _DAY_ALONE.match(left):
        return f"{left} {match['month']} {match['year']}"
    return f"{left} {match['year']}" if _DAY_OF_MONTH.match(left) else left


def _span_of_part(words: str) -> Span | None:
    for form in _FORMS:
        if found := form.match(words):
            return _span(found.groupdict())
    return None


def _span(parts: dict[str, str | None]) -> Span | None:
    before = bool(parts.get("sign")) or (parts.get("era") or "").startswith("b")

    def number(name: str) -> int:
        return int(parts.get(name) or 0)

    if parts.get("century") or parts.get("millennium"):
        size = 100 if parts.get("century") else 1000
        count = number("century") or number("millennium")
        # Most people count 2000 to the 21st century, the calendar to the 20th.
        low, high = (count - 1) * size + (1 if before or count == 1 else 0), count * size
    elif parts.get("decade"):
        low = number("decade")
        # "the 1900s" may mean the century; only the decade is certain.
        high = low + 9
    else:
        low = high = number("year")
    if not low and not parts.get("decade"):
        return None
    first, last = (1 - high, 1 - low) if before else (low, high)
    month = parts.get("month")
    if month is None:
        return Span(first=(first, 1, 1), last=(last, 12, 31))
    at = _MONTHS.get(month) or (int(month) if month.isdigit() else 0)
    day = number("day")
    return Span(first=(first, at, day or 1), last=(last, at, day or 31)) if 1 <= at <= 12 else None
