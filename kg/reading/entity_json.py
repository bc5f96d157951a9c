"""One entity object, as in a dump line or a `wbgetentities` answer -> typed structures, and their values.

The structures follow today's WikiData, with `[]` for empty maps. Only the fields that are needed are made into
objects: references are not read, for no answer depends on them, and they are most of a dump's bytes. Items and
properties are read; lexemes, media files and other kinds are rejected with their kind as the reason.

An object with other content is read part by part (`EntityPartReader`): unreadable parts are rejected with a reason,
nothing is guessed, and the rest is kept. A statement with an unreadable qualifier is rejected whole: without its end
time, say, it would state something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec
import orjson
from msgspec import UNSET, Raw, Struct, UnsetType, structs

from kg.base.model import PROPERTY_ID, EntityValue, OtherValue, QuantityValue, TimeValue, signed_number

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
_FARTHEST = 360  # degrees, as Wikibase has it
_CALENDARS = {"Q1985727": "gregorian", "Q1985786": "julian"}


def parse_whole_number(text: str, maximum: int) -> int | None:
    """The number from 0 to `maximum` that a text of digits states, else None."""
    if len(text) > MOST_DIGITS or not _WHOLE.match(text):
        return None
    number = int(text)
    return number if number <= maximum else None


def parse_finite_number(text: str) -> float | None:
    """The number that a text states, with or without an exponent, if it is finite as a float, else None."""
    if len(text) > MOST_DIGITS or not _FLOAT.match(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


@lru_cache(maxsize=10_000)
def is_language_code(code: str) -> bool:
    """Whether a text has the form of a language code."""
    return _LANGUAGE.match(code) is not None


def id_sort_key(entity_id: str) -> tuple[int, str]:
    """A sort key that orders ids of one kind by their numbers, without converting these."""
    return len(entity_id), entity_id


class Unreadable(ValueError):  # noqa: N818 - not an error of the caller's: it becomes a reject
    """Part of an entity that cannot be read: `reason` is a short code, the message describes the content found."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(shortened(detail))
        self.reason = reason


def property_number(raw_id: str) -> int:
    """The number of a property id, 31 of P31. Raises `Unreadable` for other texts."""
    if not PROPERTY_ID.match(raw_id):
        raise Unreadable("bad-property", f"{_short_repr(raw_id)} is no property id")
    return int(raw_id[1:])


def read_coordinate(value: object) -> OtherValue:
    """The JSON of a coordinate. Raises `Unreadable` where a degree is no number from -360 to 360."""
    if isinstance(value, dict):
        for part in ("latitude", "longitude", "precision"):
            number = value.get(part)
            if number is None and (part == "precision" or part not in value):
                continue
            if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _FARTHEST:
                raise Unreadable("bad-coordinate", f"{part} {_short_repr(number)} is no number from -360 to 360")
    return OtherValue(type="globecoordinate", json=canonical_json(value))


def canonical_json(value: object) -> str:
    """A value as JSON with sorted keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # nested too deeply
        raise Unreadable("bad-value", f"a value that cannot be written: {error}") from None


def read_entity_reference(raw_id: str) -> EntityValue:
    """A reference to an entity of any kind. Raises `Unreadable` for a text that is no entity id."""
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
    if year == 0:  # xsd:dateTime has one, the JSON of WikiData has not
        raise Unreadable("bad-time", f"time {time!r}: there is no year 0 (1 BCE is -0001)")
    if month > 12 or day > 31:  # 30 February is kept: some source has it
        raise Unreadable("bad-time", f"time {time!r}: month or day out of range")
    if not 0 <= precision <= 14:
        raise Unreadable("bad-time", f"precision {precision} is not 0..14")
    precision = min(precision, 9 if not month else 10 if not day else 11)  # hours and finer are never used
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
    number = _exact_decimal(amount)
    bounds: tuple[Decimal | None, Decimal | None] = (None, None)
    if lower is not None and upper is not None:
        low, high = _exact_decimal(lower), _exact_decimal(upper)
        bounds = (low, high) if low <= high else (high, low)  # some statements have them in the wrong order
    match = _UNIT.match(unit)
    if match is None and unit not in ("1", ""):
        raise Unreadable("bad-quantity", f'unit {_short_repr(unit)} is neither "1" nor an entity')
    return QuantityValue(amount=number, unit=match[1] if match else None, lower=bounds[0], upper=bounds[1])


def _exact_decimal(text: str) -> Decimal:
    """A decimal without an exponent, exactly as it is written."""
    if len(text) > MOST_DIGITS or not _DECIMAL.match(text):
        raise Unreadable("bad-quantity", f"{_short_repr(text)} is no decimal number")
    return Decimal(text)


def shortened(text: str, size: int = 300) -> str:
    """A text for a message: as it is, or its beginning and "..." where it has more than `size` characters."""
    return text if len(text) <= size else text[: size - 3] + "..."


def _short_repr(given: object) -> str:
    return shortened(repr(given[:100] if isinstance(given, str) else given), 80)


# The beginning of every line of a dump, in the order that Wikibase writes.
HEAD = re.compile(rb'\{"type":"(?:item|property)","id":"([QP][1-9][0-9]{0,17})"')

_OTHER = "urn:granola:other"  # stands in for any type of value that is not known


class Reject(Struct, frozen=True, kw_only=True, array_like=True):
    """A reject: place in the source, a short code for counting, the detail, the entity, the beginning of the text."""

    line: int | None = None
    reason: str
    detail: str
    entity: str | None = None
    statement: str | None = None
    excerpt: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields that are not None."""
        return {key: value for key, value in structs.asdict(self).items() if value is not None}


class IdValue(Struct, gc=False):
    """The value of an entity reference."""

    id: str


class TimePoint(Struct, gc=False):
    """The value of a time."""

    time: str
    precision: int
    calendarmodel: str


class Amount(Struct, gc=False):
    """The value of a quantity."""

    amount: str
    unit: str = "1"
    lower: str | None = msgspec.field(default=None, name="lowerBound")
    upper: str | None = msgspec.field(default=None, name="upperBound")


class TextInLanguage(Struct, gc=False):
    """The value of a text in a language."""

    text: str
    language: str


class UnknownValue(Struct, gc=False):
    """A value of a type that is not known, as JSON."""

    type: str
    json: str


class EntityData(Struct, tag="wikibase-entityid", tag_field="type", gc=False):
    """A datavalue that is an entity."""

    value: IdValue


class TimeData(Struct, tag="time", tag_field="type", gc=False):
    """A datavalue that is a time."""

    value: TimePoint


class QuantityData(Struct, tag="quantity", tag_field="type", gc=False):
    """A datavalue that is a quantity."""

    value: Amount


class StringData(Struct, tag="string", tag_field="type", gc=False):
    """A datavalue that is a plain text."""

    value: str


class TextInLanguageData(Struct, tag="monolingualtext", tag_field="type", gc=False):
    """A datavalue that is a text in a language."""

    value: TextInLanguage


class CoordinateData(Struct, tag="globecoordinate", tag_field="type", gc=False):
    """A datavalue that is a coordinate, kept as it is written."""

    value: Raw


class OtherData(Struct, tag=_OTHER, tag_field="type", gc=False):
    """A datavalue of a type that is not known."""

    value: UnknownValue


Data = EntityData | TimeData | QuantityData | StringData | TextInLanguageData | CoordinateData | OtherData
_TYPES = frozenset(one.__struct_config__.tag for one in Data.__args__)


class TypedQualifier(Struct, gc=False):
    """A snak of a qualifier."""

    snaktype: str
    property: str
    datavalue: Data | UnsetType = UNSET


class TypedSnak(TypedQualifier, gc=False):
    """A main snak."""

    datatype: str | None = None


class TypedStatement(Struct, gc=False):
    """A statement without its references. Truthy data have no id."""

    mainsnak: TypedSnak
    rank: str
    id: str | None = None
    qualifiers: dict[str, list[TypedQualifier]] | list[Any] | None = None
    order: list[str] = msgspec.field(default_factory=list, name="qualifiers-order")


class TypedTerm(Struct, gc=False):
    """A label, a description or an alias."""

    language: str
    value: str


class MergedFrom(Struct, gc=False):
    """The requested id, of an entity that was merged into this one."""

    source: str = msgspec.field(name="from")


class OptionalId(Struct, gc=False):
    """The id in an object, if there is one."""

    id: str | None = None


class EdgeData(Struct, gc=False):
    """Any datavalue by its type."""

    type: str
    value: OptionalId | str


class EdgeSnak(Struct, gc=False):
    """A main snak as far as an edge needs it."""

    snaktype: str
    property: str
    datavalue: EdgeData | UnsetType = UNSET


class EdgeStatement(Struct, gc=False):
    """A statement as far as an edge needs it."""

    mainsnak: EdgeSnak
    rank: str


def entity_decoder(languages: Collection[str] | None) -> Callable[[bytes], Any]:
    """A decoder of whole entities with the terms of `languages` (None: all); for the fields see `_make_entity_type`."""
    return msgspec.json.Decoder(_make_entity_type(languages, statements=TypedStatement)).decode


def sketch_decoder(languages: Collection[str] | None, *, named: bool) -> Callable[[bytes], Any]:
    """A decoder like `entity_decoder`, but of the parts of statements that counting needs; terms only if `named`."""
    return msgspec.json.Decoder(_make_entity_type(languages if named else (), statements=EdgeStatement)).decode


def _make_entity_type(languages: Collection[str] | None, *, statements: type) -> type:
    texts = _type_by_language(languages, TypedTerm)
    aliases = _type_by_language(languages, list[TypedTerm])
    fields: list[Any] = [
        ("id", str),
        ("type", str, "item"),
        ("datatype", str | None, None),
        ("labels", texts | list[Any] | None, None),
        ("descriptions", texts | list[Any] | None, None),
        ("aliases", aliases | list[Any] | None, None),
        ("claims", dict[str, list[statements]] | list[Any] | None, None),  # type: ignore[valid-type]
        ("sitelinks", dict[str, Raw] | list[Any] | None, None),  # only their number is stored
        ("missing", Raw | UnsetType, UNSET),  # any value: in answers of the API it is ""
        ("redirects", MergedFrom | UnsetType, UNSET),
    ]
    return msgspec.defstruct("TypedEntity", fields, gc=False)


def _type_by_language(languages: Collection[str] | None, what: Any) -> Any:
    if languages is None:
        return dict[str, what]
    ordered = sorted(languages)
    # Other languages are not even looked at.
    return msgspec.defstruct(
        "Languages",
        [(f"language_{n}", what | UnsetType, UNSET) for n in range(len(ordered))],
        rename={f"language_{n}": code for n, code in enumerate(ordered)},
        namespace={"codes": tuple(ordered)},
        gc=False,
    )


def language_term_pairs(terms: Any) -> list[tuple[str, Any]]:
    """(language, term or terms) of a field of terms. Raises `Unreadable` where the field is no map by language."""
    if not terms:
        return []
    if type(terms) is dict:
        if not all(map(is_language_code, terms)):
            raise Unreadable("bad-term", "no language code")
        return list(terms.items())
    if type(terms) is list:
        raise Unreadable("bad-term", "a list, not a map by language")
    codes: tuple[str, ...] = terms.codes
    return [(code, term) for code, term in zip(codes, structs.astuple(terms), strict=True) if term is not UNSET]


def number_of_entity(raw_id: object, kind: object, *, missing: bool) -> int:
    """The number of an item or property. Raises `Unreadable` for other kinds, missing entities and bad ids."""
    if kind not in ("item", "property"):
        known = kind if kind in ("lexeme", "mediainfo") else "unknown-kind"
        raise Unreadable(str(known), f"{raw_id!s:.40} is of kind {kind!r:.40}")
    if not isinstance(raw_id, str):
        raise Unreadable("no-id", "an entity needs an id")
    if missing:
        raise Unreadable("missing", f"{raw_id:.40} does not exist at the source")
    number = signed_number(raw_id)
    if number is None:
        raise Unreadable("bad-id", f"{raw_id[:40]!r} is no item or property id")
    return number


class EntityPartReader:
    """Removes from an entity object the parts that the decoder cannot read."""

    def __init__(self, languages: Collection[str] | None, check: Callable[[str, str, TypedStatement], object]) -> None:
        self._languages = languages
        self._check = check
        self._statement = msgspec.json.Decoder(TypedStatement).decode
        self._term = msgspec.json.Decoder(TypedTerm).decode

    def readable_parts(self, data: Mapping[str, Any]) -> tuple[bytes | None, list[Reject]]:
        """(JSON of the readable parts, rejects of the others); None for the JSON where it is no item or property."""
        given = data.get("id")
        try:
            number_of_entity(given, data.get("type", "item"), missing="missing" in data)
        except Unreadable as error:
            shown = given[:40] if isinstance(given, str) else None
            return None, [Reject(reason=error.reason, detail=str(error), entity=shown)]
        subject = str(given)
        rejects: list[Reject] = []
        kept: dict[str, Any] = {key: data[key] for key in ("id", "type") if key in data}
        if isinstance(data.get("datatype"), str):
            kept["datatype"] = data["datatype"]
        for key in ("labels", "descriptions", "aliases"):
            kept[key] = dict(self._readable_terms(data.get(key), subject, key, rejects))
        kept["claims"] = {}
        for prop, statement in self._readable_statements(data.get("claims"), subject, rejects):
            kept["claims"].setdefault(prop, []).append(statement)
        sitelinks = data.get("sitelinks")
        if isinstance(sitelinks, dict | list | None):
            kept["sitelinks"] = dict.fromkeys(map(str, sitelinks or ()), 0)  # only counted
        else:
            detail = shortened(f"sitelinks {sitelinks!r:.80} are neither a map nor a list")
            rejects.append(Reject(reason="bad-sitelinks", detail=detail, entity=subject))
        merged = data.get("redirects")
        if isinstance(merged, dict) and isinstance(merged.get("from"), str):
            kept["redirects"] = {"from": merged["from"]}
        return msgspec.json.encode(kept), rejects

    def _readable_terms(
        self, terms: object, subject: str, key: str, rejects: list[Reject]
    ) -> Iterator[tuple[str, Any]]:
        for code, given in terms.items() if isinstance(terms, dict) else (("", terms),) if terms else ():
            if self._languages is not None and code not in self._languages:
                continue
            read: list[TypedTerm] = []
            for one in given if key == "aliases" and isinstance(given, list) else [given]:
                try:
                    term = self._term(orjson.dumps(one))
                    if not is_language_code(code) or term.language != code:
                        raise Unreadable("bad-term", "no language code, or another one inside")
                    read.append(term)
                except (msgspec.ValidationError, Unreadable, TypeError) as error:
                    detail = shortened(f"{key} {shortened(code, 24)}: {error}")
                    rejects.append(Reject(reason="bad-term", detail=detail, entity=subject))
            if read:
                yield code, read if key == "aliases" else read[0]

    def _readable_statements(
        self, claims: object, subject: str, rejects: list[Reject]
    ) -> Iterator[tuple[str, TypedStatement]]:
        for prop, group in claims.items() if isinstance(claims, dict) else (("", claims),) if claims else ():
            for given in group if isinstance(group, list) else [group]:
                try:
                    statement = self._statement(orjson.dumps(_with_values_of_unknown_types_as_json(given)))
                    self._check(subject, prop, statement)
                    yield prop, statement
                except (msgspec.ValidationError, Unreadable, TypeError) as error:  # TypeError: nested too deeply
                    name = given.get("id") if isinstance(given, dict) else None
                    rejects.append(
                        Reject(
                            reason=error.reason if isinstance(error, Unreadable) else "bad-statement",
                            detail=shortened(f"{shortened(prop, 24)}: {error}"),
                            entity=subject,
                            statement=shortened(name, LONGEST_NAME) if isinstance(name, str) else None,
                        )
                    )


def _with_values_of_unknown_types_as_json(statement: Any) -> Any:
    """A statement whose values of unknown types are kept as JSON."""
    if not isinstance(statement, dict):
        return statement
    kept = {key: statement[key] for key in ("id", "rank", "qualifiers-order") if key in statement}
    kept["mainsnak"] = _with_unknown_value_as_json(statement.get("mainsnak"))
    qualifiers = statement.get("qualifiers")
    if isinstance(qualifiers, dict):
        kept["qualifiers"] = {
            prop: [_with_unknown_value_as_json(snak) for snak in snaks] if isinstance(snaks, list) else snaks
            for prop, snaks in qualifiers.items()
        }
    elif qualifiers:
        kept["qualifiers"] = qualifiers
    return kept


def _with_unknown_value_as_json(snak: Any) -> Any:
    data: Any = snak.get("datavalue") if isinstance(snak, dict) else None
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind in _TYPES or "value" not in data:
        return snak
    return {**snak, "datavalue": {"type": _OTHER, "value": {"type": kind, "json": canonical_json(data["value"])}}}
