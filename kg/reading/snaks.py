"""Snak JSON -> values. What cannot be read raises `Unreadable` with a reason; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from kg.model import (
    EntityValue,
    OtherValue,
    QuantityValue,
    SnakKind,
    TextValue,
    TimeValue,
    Value,
)
from kg.reading.numbers import decimal_number, is_language

# "+1961-08-04T00:00:00Z"; older dumps pad the year to 11 digits. The time of day is never used.
_TIME = re.compile(r"([+-]?)([0-9]{1,16})-([0-9]{1,2})-([0-9]{1,2})(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?)?\Z")
_UNIT = re.compile(r"(?:.*[/:])?(Q[1-9][0-9]{0,17})\Z")
_TARGET = re.compile(r"[A-Z][1-9][0-9]{0,17}(?:-[A-Z][1-9][0-9]{0,17})?\Z")  # Q42, P31, L3-F1, E10
_PROPERTY = re.compile(r"P[1-9][0-9]{0,17}\Z")
_FARTHEST = 360  # degrees, as Wikibase has it

_CALENDARS = {"Q1985727": "gregorian", "Q1985786": "julian"}
_PREFIXES = {"item": "Q", "property": "P", "lexeme": "L", "mediainfo": "M", "entity-schema": "E"}
_KINDS = {kind.value: kind for kind in SnakKind}


class Unreadable(ValueError):  # noqa: N818 - not an error of the caller's: it becomes a reject
    """Part of an entity that cannot be read: `reason` is a short code, the message says what was found."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(shortened(detail))
        self.reason = reason


def read_property_id(raw_id: object) -> str:
    """A property id in its canonical form (`p31` occurs in old dumps)."""
    if isinstance(raw_id, str):
        if _PROPERTY.match(raw_id):
            return raw_id
        if _PROPERTY.match(raw_id.upper()):
            return raw_id.upper()
    raise Unreadable("bad-property", f"{_short(raw_id)} is no property id")


def read_snak(data: object, prop: str | None = None) -> tuple[str, SnakKind, Value | None]:
    """Property, kind and value of a snak. `prop`: the checked key it stood under, or None."""
    try:  # nearly every snak is a value and repeats its key
        if data["snaktype"] == "value" and data["property"] == prop is not None:  # type: ignore[index]
            return prop, SnakKind.VALUE, read_value(data["datavalue"])  # type: ignore[index]
    except (KeyError, TypeError):
        pass
    if not isinstance(data, dict):
        raise Unreadable("bad-snak", f"a snak must be an object, not {type(data).__name__}")
    prop = read_property_id(data.get("property", prop))
    snaktype = data.get("snaktype", "value")
    if snaktype == "value":
        return prop, SnakKind.VALUE, read_value(data.get("datavalue"))
    try:
        return prop, _KINDS[snaktype], None
    except (KeyError, TypeError):
        raise Unreadable("unknown-snaktype", f"snaktype {_short(snaktype)} is none of {', '.join(_KINDS)}") from None


def read_value(datavalue: object) -> Value:
    """A datavalue. Types that are not known are kept whole; the datatype is not needed, it may be missing."""
    try:
        reader = _READERS[datavalue["type"]]  # type: ignore[index]
        value = datavalue["value"]  # type: ignore[index]
    except (KeyError, TypeError):
        return _read_unusual_value(datavalue)
    return reader(value)


def _read_unusual_value(datavalue: object) -> Value:
    if isinstance(datavalue, str):  # old dumps: an entity id, or a string, without its wrapper
        return EntityValue(id=datavalue.upper()) if _TARGET.match(datavalue.upper()) else TextValue(text=datavalue)
    if not isinstance(datavalue, dict) or "value" not in datavalue:
        raise Unreadable("no-datavalue", f"a value snak needs a datavalue, not {_short(datavalue)}")
    kind, value = datavalue.get("type"), datavalue["value"]
    if not isinstance(kind, str):
        raise Unreadable("no-datavalue", f"a datavalue needs a type, not {_short(kind)}")
    return OtherValue(type=kind, json=_canonical(value))


def read_coordinate(value: object) -> OtherValue:
    """A coordinate, kept whole. Its degrees, where there are any, are finite numbers of a size that degrees have."""
    if isinstance(value, dict):
        for part in ("latitude", "longitude", "precision"):
            number = value.get(part)
            if number is None and (part == "precision" or part not in value):
                continue
            if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _FARTHEST:
                raise Unreadable("bad-coordinate", f"{part} {_short(number)} is no number from -360 to 360")
    return OtherValue(type="globecoordinate", json=_canonical(value))


def _canonical(value: object) -> str:
    """A value as JSON with sorted keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # nested too deeply
        raise Unreadable("bad-value", f"a value that cannot be written: {error}") from None


def read_entity_value(value: object) -> EntityValue:
    """An entity reference: its `id`, else entity type and number, or (old dumps) a plain string."""
    raw_id: object = value
    if isinstance(value, dict):
        raw_id = value.get("id")
        if isinstance(raw_id, str):
            return _entity_value(raw_id)
        if raw_id is None:
            prefix = _PREFIXES.get(str(value.get("entity-type", "item")))
            number = value.get("numeric-id")
            if prefix is None or number is None:
                raise Unreadable("bad-entity-id", f"neither id nor a known type and number: {_short(value)}")
            raw_id = f"{prefix}{number}"
    if isinstance(raw_id, str):
        return _entity_value(raw_id)
    raise Unreadable("bad-entity-id", f"{_short(raw_id)} is no entity id")


@lru_cache(maxsize=1 << 16)  # classes, countries and the like come again and again
def _entity_value(raw_id: str) -> EntityValue:
    if _TARGET.match(raw_id):
        return EntityValue(id=raw_id)
    if _TARGET.match(raw_id.upper()):
        return EntityValue(id=raw_id.upper())
    raise Unreadable("bad-entity-id", f"{_short(raw_id)} is no entity id")


def read_time(value: object) -> TimeValue:
    """A time. Parts beyond the precision are dropped; a precision finer than the parts given is lowered."""
    if not isinstance(value, dict):
        raise Unreadable("bad-time", f"a time must be an object, not {_short(value)}")
    match = _TIME.match(value["time"]) if isinstance(value.get("time"), str) else None
    if match is None:
        raise Unreadable("bad-time", f"time {_short(value.get('time'))} is not of the form +YYYY-MM-DDT00:00:00Z")
    sign, year_text, month_text, day_text = match.groups()
    year, month, day = int(year_text), int(month_text), int(day_text)
    if year == 0:
        raise Unreadable("bad-time", f"time {value['time']!r}: there is no year 0 (1 BCE is -0001)")
    if month > 12 or day > 31:
        raise Unreadable("bad-time", f"time {value['time']!r}: month or day out of range")
    finest = 9 if not month else 10 if not day else 11
    precision = value.get("precision", finest)
    if type(precision) is not int or not 0 <= precision <= 14:
        raise Unreadable("bad-time", f"precision {_short(precision)} is not 0..14")
    precision = min(precision, finest)
    model = value.get("calendarmodel") or "Q1985727"
    calendar = _CALENDARS.get(model.rpartition("/")[2]) if isinstance(model, str) else None
    if calendar is None:
        raise Unreadable("bad-time", f"calendar {_short(model)} is neither Gregorian nor Julian")
    return TimeValue(
        year=-year if sign == "-" else year,
        month=month if precision >= 10 else None,
        day=day if precision >= 11 else None,
        precision=precision,
        calendar=calendar,
    )


def read_quantity(value: object) -> QuantityValue:
    """A quantity: decimals as written; bounds put in order, and dropped where only one is given."""
    if not isinstance(value, dict):
        raise Unreadable("bad-quantity", f"a quantity must be an object, not {_short(value)}")
    amount = _decimal(value.get("amount"))
    lower, upper = value.get("lowerBound"), value.get("upperBound")
    bounds: tuple[Decimal | None, Decimal | None] = (None, None)
    if lower is not None and upper is not None:
        low, high = _decimal(lower), _decimal(upper)
        bounds = (low, high) if low <= high else (high, low)
    unit = value.get("unit", "1")
    if unit is None or unit in ("1", "", 1):
        return QuantityValue(amount=amount, lower=bounds[0], upper=bounds[1])
    match = _UNIT.match(unit) if isinstance(unit, str) else None
    if match is None:
        raise Unreadable("bad-quantity", f'unit {_short(unit)} is neither "1" nor an entity')
    return QuantityValue(amount=amount, unit=match[1], lower=bounds[0], upper=bounds[1])


def _decimal(raw_number: object) -> Decimal:
    # A JSON number with a fraction has been through a float by now, and amounts never do.
    if type(raw_number) is int:
        return Decimal(raw_number)
    if isinstance(raw_number, str) and (number := decimal_number(raw_number)) is not None:
        return number
    raise Unreadable("bad-quantity", f"{_short(raw_number)} is no decimal number")


def _text(value: object) -> TextValue:
    if not isinstance(value, str):
        raise Unreadable("bad-text", f"a string value must be text, not {_short(value)}")
    return TextValue(text=value)


def _monolingual(value: object) -> TextValue:
    if isinstance(value, dict):
        text, language = value.get("text"), value.get("language")
        if isinstance(text, str) and isinstance(language, str) and is_language(language):
            return TextValue(text=text, language=language)
    raise Unreadable("bad-text", f"monolingual text needs text and language, not {_short(value)}")


def shortened(text: str, size: int = 300) -> str:
    """The beginning of a text that may be of any length, for a message."""
    return text if len(text) <= size else text[: size - 3] + "..."


def _short(given: object) -> str:
    return shortened(repr(given[:100] if isinstance(given, str) else given), 80)


_READERS: Mapping[str, Callable[[object], Value]] = {
    "wikibase-entityid": read_entity_value,
    "time": read_time,
    "quantity": read_quantity,
    "string": _text,
    "monolingualtext": _monolingual,
    "globecoordinate": read_coordinate,
}


def entity_edge(statement: Any) -> tuple[str, str | None] | None:
    """(property, target id) of a statement's JSON, target None for other values; None if it does not count.

    The light reading for counts and walks over a whole source: deprecated statements and stated absences do
    not count, and what cannot be read is passed over, because the full reading reports it.
    """
    try:
        if statement.get("rank") == "deprecated":
            return None
        snak = statement["mainsnak"]
        kind = snak.get("snaktype", "value")
        if kind == "novalue" or kind not in _KINDS:
            return None
        prop = read_property_id(snak["property"])
        if kind != "value":
            return prop, None
        datavalue = snak["datavalue"]
        if datavalue["type"] != "wikibase-entityid":
            return prop, None
        return prop, read_entity_value(datavalue["value"]).id
    except (KeyError, TypeError, AttributeError, Unreadable):
        return None
