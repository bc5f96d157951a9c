"""Ranges of amounts that English wordings mean, to recompute the arithmetic of quantity tiers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from abstraction.language.units import MeasureUnit, units
from kg.terms import normalise

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
