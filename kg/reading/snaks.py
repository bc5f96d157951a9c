"""Values in a dump's form -> values. Unreadable ones raise `Unreadable` with a reason; nothing is guessed."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache

import orjson

from kg.base.model import EntityValue, OtherValue, QuantityValue, TimeValue

MOST_DIGITS = 127  # characters of an amount: Wikibase's own limit
LONGEST_NAME = 250  # characters of a statement's id

# A language code: those of WikiData have 12 characters at most.
_LANGUAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_WHOLE = re.compile(r"[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?\Z")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
# "+1961-08-04T00:00:00Z". The time of day is never used.
_TIME = re.compile(r"([+-]?)([0-9]{1,16})-([0-9]{1,2})-([0-9]{1,2})(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?)?\Z")
_UNIT = re.compile(r"(?:.*[/:])?(Q[1-9][0-9]{0,17})\Z")
_TARGET = re.compile(r"[A-Z][1-9][0-9]{0,17}(?:-[A-Z][1-9][0-9]{0,17})?\Z")  # Q42, P31, L3-F1, E10
_PROPERTY = re.compile(r"P[1-9][0-9]{0,17}\Z")
_FARTHEST = 360  # degrees, as Wikibase has it
_CALENDARS = {"Q1985727": "gregorian", "Q1985786": "julian"}


def whole_number(text: str, most: int) -> int | None:
    """A number from 0 to `most`, written in digits alone."""
    if len(text) > MOST_DIGITS or not _WHOLE.match(text):
        return None
    number = int(text)
    return number if number <= most else None


def finite_number(text: str) -> float | None:
    """A number with or without an exponent that fits a float."""
    if len(text) > MOST_DIGITS or not _FLOAT.match(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


@lru_cache(maxsize=10_000)
def is_language(code: str) -> bool:
    """Whether it is a language code by its form."""
    return _LANGUAGE.match(code) is not None


def by_number(entity_id: str) -> tuple[int, str]:
    """A sort key: ids of one kind by their numbers, however many digits these have."""
    return len(entity_id), entity_id


class Unreadable(ValueError):  # noqa: N818 - not an error of the caller's: it becomes a reject
    """Part of an entity that cannot be read: `reason` is a short code, the message describes the content found."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(shortened(detail))
        self.reason = reason


def property_number(raw_id: str) -> int:
    """31 of P31."""
    if not _PROPERTY.match(raw_id):
        raise Unreadable("bad-property", f"{_short_repr(raw_id)} is no property id")
    return int(raw_id[1:])


def read_coordinate(value: object) -> OtherValue:
    """A coordinate, kept whole. Its degrees, where there are any, are finite numbers of a size that degrees have."""
    if isinstance(value, dict):
        for part in ("latitude", "longitude", "precision"):
            number = value.get(part)
            if number is None and (part == "precision" or part not in value):
                continue
            if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _FARTHEST:
                raise Unreadable("bad-coordinate", f"{part} {_short_repr(number)} is no number from -360 to 360")
    return OtherValue(type="globecoordinate", json=canonical(value))


def canonical(value: object) -> str:
    """A value as JSON with sorted keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # nested too deeply
        raise Unreadable("bad-value", f"a value that cannot be written: {error}") from None


def read_target(raw_id: str) -> EntityValue:
    """An entity of any kind by its id."""
    if not _TARGET.match(raw_id):
        raise Unreadable("bad-entity-id", f"{_short_repr(raw_id)} is no entity id")
    return EntityValue(id=raw_id)


def read_time(time: str, precision: int, model: str) -> TimeValue:
    """A time. Parts beyond the precision are dropped; a precision finer than the parts given is lowered."""
    match = _TIME.match(time)
    if match is None:
        raise Unreadable("bad-time", f"time {_short_repr(time)} is not of the form +YYYY-MM-DDT00:00:00Z")
    sign, year_text, month_text, day_text = match.groups()
    year, month, day = int(year_text), int(month_text), int(day_text)
    if year == 0:
        raise Unreadable("bad-time", f"time {time!r}: there is no year 0 (1 BCE is -0001)")
    if month > 12 or day > 31:
        raise Unreadable("bad-time", f"time {time!r}: month or day out of range")
    if not 0 <= precision <= 14:
        raise Unreadable("bad-time", f"precision {precision} is not 0..14")
    precision = min(precision, 9 if not month else 10 if not day else 11)
    calendar = _CALENDARS.get(model.rpartition("/")[2])
    if calendar is None:
        raise Unreadable("bad-time", f"calendar {_short_repr(model)} is neither Gregorian nor Julian")
    return TimeValue(
        year=-year if sign == "-" else year,
        month=month if precision >= 10 else None,
        day=day if precision >= 11 else None,
        precision=precision,
        calendar=calendar,
    )


def read_quantity(amount: str, unit: str, lower: str | None, upper: str | None) -> QuantityValue:
    """A quantity: decimals as written; bounds put in order, and dropped where only one is given."""
    number = _decimal(amount)
    bounds: tuple[Decimal | None, Decimal | None] = (None, None)
    if lower is not None and upper is not None:
        low, high = _decimal(lower), _decimal(upper)
        bounds = (low, high) if low <= high else (high, low)
    match = _UNIT.match(unit)
    if match is None and unit not in ("1", ""):
        raise Unreadable("bad-quantity", f'unit {_short_repr(unit)} is neither "1" nor an entity')
    return QuantityValue(amount=number, unit=match[1] if match else None, lower=bounds[0], upper=bounds[1])


def _decimal(text: str) -> Decimal:
    """A decimal without an exponent, exactly as it is written."""
    if len(text) > MOST_DIGITS or not _DECIMAL.match(text):
        raise Unreadable("bad-quantity", f"{_short_repr(text)} is no decimal number")
    return Decimal(text)


def shortened(text: str, size: int = 300) -> str:
    """The beginning of a text that may be of any length, for a message."""
    return text if len(text) <= size else text[: size - 3] + "..."


def _short_repr(given: object) -> str:
    return shortened(repr(given[:100] if isinstance(given, str) else given), 80)
