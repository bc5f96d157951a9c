"""Dump lines read by a typed decoder: only the fields that are needed are made into objects.

The structures accept what WikiData writes today, with `[]` for empty maps. Whatever differs raises
`msgspec.ValidationError` or `Unusual`, and the line goes to the tolerant reader (`kg.reading.entity_json`): both
read the same lines the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from kg.reading.numbers import is_language

_KNOWN: set[str] = set()  # language codes that were looked at
_MOST_KNOWN = 10_000


class Unusual(ValueError):  # noqa: N818 - no error: the tolerant reader takes over
    """A line that only the tolerant reader should judge."""


# The beginning of every line of a dump, in the order that Wikibase writes.
HEAD = re.compile(rb'\{"type":"(?:item|property)","id":"([QP][1-9][0-9]{0,17})"')


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


class Words(Struct, gc=False):
    """The value of a text in a language."""

    text: str
    language: str


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


class WordsData(Struct, tag="monolingualtext", tag_field="type", gc=False):
    """A datavalue that is a text in a language."""

    value: Words


class PlaceData(Struct, tag="globecoordinate", tag_field="type", gc=False):
    """A datavalue that is a coordinate, kept as it is written."""

    value: Raw


Data = EntityData | TimeData | QuantityData | StringData | WordsData | PlaceData


class TypedQualifier(Struct, gc=False):
    """A snak of a qualifier."""

    snaktype: str
    property: str
    datavalue: Data | UnsetType = UNSET


class TypedSnak(TypedQualifier, gc=False):
    """A main snak."""

    datatype: str | None = None


class TypedStatement(Struct, gc=False):
    """A statement without its references."""

    mainsnak: TypedSnak
    id: str
    rank: str
    qualifiers: dict[str, list[TypedQualifier]] | list[Any] | None = None
    order: list[str] = msgspec.field(default_factory=list, name="qualifiers-order")


class TypedTerm(Struct, gc=False):
    """A label, a description or an alias."""

    language: str
    value: str


class Nothing(Struct, gc=False):
    """An object that is counted and not read."""


class MaybeId(Struct, gc=False):
    """The id in an object, if there is one."""

    id: str | None = None


class EdgeData(Struct, gc=False):
    """Any datavalue by its type."""

    type: str
    value: MaybeId | str


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
    """A decoder of whole entities with the terms of `languages` (None: all).

    What it gives has the fields type, id, datatype, labels, descriptions, aliases, claims, sitelinks, statements,
    missing and redirects; `languages_of` reads the terms.
    """
    return msgspec.json.Decoder(_entity(languages, statements=TypedStatement)).decode


def sketch_decoder(languages: Collection[str] | None, *, named: bool) -> Callable[[bytes], Any]:
    """As `entity_decoder`, of statements what counting and walking need; terms only with `named`."""
    return msgspec.json.Decoder(_entity(languages if named else (), statements=EdgeStatement)).decode


def _entity(languages: Collection[str] | None, *, statements: type) -> type:
    texts = _by_language(languages, TypedTerm)
    aliases = _by_language(languages, list[TypedTerm])
    fields: list[Any] = [
        ("type", str),
        ("id", str),
        ("datatype", str | None, None),
        ("labels", texts | list[Any] | None, None),
        ("descriptions", texts | list[Any] | None, None),
        ("aliases", aliases | list[Any] | None, None),
        ("claims", dict[str, list[statements]] | list[Any] | None, None),  # type: ignore[valid-type]
        ("sitelinks", dict[str, Nothing] | list[Any] | None, None),
        ("statements", Raw | UnsetType, UNSET),
        ("missing", Raw | UnsetType, UNSET),
        ("redirects", Raw | UnsetType, UNSET),
    ]
    return msgspec.defstruct("TypedEntity", fields, gc=False)


def _by_language(languages: Collection[str] | None, what: Any) -> Any:
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


def by_language(terms: Any) -> list[tuple[str, Any]]:
    """(language, term or terms) of a field of terms. Raises `Unusual` for a list with something in it."""
    if not terms:
        return []
    if type(terms) is dict:
        if not _KNOWN.issuperset(terms):
            if not all(map(is_language, terms)):
                raise Unusual
            if len(_KNOWN) < _MOST_KNOWN:
                _KNOWN.update(terms)
        return list(terms.items())
    if type(terms) is list:
        raise Unusual
    codes: tuple[str, ...] = terms.codes
    return [(code, term) for code, term in zip(codes, msgspec.structs.astuple(terms), strict=True) if term is not UNSET]
