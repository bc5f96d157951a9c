"""WikiData in RDF: namespaces, names of datatypes, ranks and languages, forms of dates, and records of order.

Shared by readers and writers of RDF. The binding itself: Wikibase, docs/topics/rdf-binding.md.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from kg.base.model import Rank, TimeValue
from kg.store.schema import DATATYPES

NAMESPACES: Mapping[str, str] = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "cc": "http://creativecommons.org/ns#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "wikibase": "http://wikiba.se/ontology#",
    "wd": "http://www.wikidata.org/entity/",
    "wds": "http://www.wikidata.org/entity/statement/",
    "wdv": "http://www.wikidata.org/value/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "psv": "http://www.wikidata.org/prop/statement/value/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "pqv": "http://www.wikidata.org/prop/qualifier/value/",
    "wdno": "http://www.wikidata.org/prop/novalue/",
    "granola": "urn:granola:",  # ours: order, see `places`, and times that xsd:dateTime cannot express
}
ENTITY = NAMESPACES["wd"]
PROP = NAMESPACES["p"]
ONTOLOGY = NAMESPACES["wikibase"]
XSD = NAMESPACES["xsd"]
RDF_TYPE = NAMESPACES["rdf"] + "type"
DATA = "https://www.wikidata.org/wiki/Special:EntityData/"  # documents about entities
GENID = "http://www.wikidata.org/.well-known/genid/"  # unknown values on the query service
VALUE_PARTS = (  # predicates of the nodes with full times, quantities and coordinates
    *("timeValue", "timePrecision", "timeCalendarModel", "quantityAmount", "quantityUnit", "quantityUpperBound"),
    *("quantityLowerBound", "geoLatitude", "geoLongitude", "geoPrecision", "geoGlobe"),
)
UNKNOWN, ABSENT = "", "-"  # sort keys of qualifiers for an unknown value and for no value
FILE_PATH = "http://commons.wikimedia.org/wiki/Special:FilePath/"  # prefix of commonsMedia values
COMMONS_DATA = "http://commons.wikimedia.org/data/main/"  # prefix of geo-shape and tabular-data values
BARE_NUMBER = "Q199"  # the unit of a quantity without one
CALENDARS: Mapping[str, str] = {"gregorian": "Q1985727", "julian": "Q1985786"}
RANKS: Mapping[Rank, str] = {
    Rank.PREFERRED: "PreferredRank",
    Rank.NORMAL: "NormalRank",
    Rank.DEPRECATED: "DeprecatedRank",
}

_LEXICAL = re.compile(r"([+-]?)([0-9]{1,16})-([0-9]{1,2})-([0-9]{1,2})(?:T[0-9:.]*(?:Z|[+-][0-9]{2}:[0-9]{2})?)?\Z")

# Language tags that are more than another case of the language code (Wikibase's canonicalLanguageCodes and the
# non-standard codes of MediaWiki); only those that one code alone becomes. The last is ours: zh-classical is no tag.
_LANGUAGES: Mapping[str, str] = {
    "en-simple": "simple",
    "cbk-x-zam": "cbk-zam",
    "jv-x-bms": "map-bms",
    "fr-x-nrm": "nrm",
    "it-x-tara": "roa-tara",
    "de-x-formal": "de-formal",
    "es-x-formal": "es-formal",
    "hu-x-formal": "hu-formal",
    "nl-x-informal": "nl-informal",
    "sr-cyrl": "sr-ec",
    "sr-latn": "sr-el",
    "zh-hans-cn": "zh-cn",
    "zh-hans-my": "zh-my",
    "zh-hans-sg": "zh-sg",
    "zh-hant-hk": "zh-hk",
    "zh-hant-mo": "zh-mo",
    "zh-hant-tw": "zh-tw",
    "lzh-x-zh": "zh-classical",
}

_Key = TypeVar("_Key", bound=Any)
_Thing = TypeVar("_Thing")
Kind = Literal["iri", "blank", "literal"]


class Term(NamedTuple):
    """A term of a triple: an IRI, a blank node's name, or a literal's text with its language or datatype IRI.

    A tuple rather than a class, for there is one for each triple.
    """

    kind: Kind
    value: str
    language: str | None = None
    datatype: str | None = None


Facts = Sequence[tuple[str, Term]]  # (predicate, object) of one subject


def language_code(tag: str) -> str:
    """The language code of a tag: en-GB -> en-gb, zh-Hant-TW -> zh-tw."""
    tag = tag.lower()
    return _LANGUAGES.get(tag, tag)


def language_tags(code: str) -> tuple[str, ...]:
    """The tags, in lower case, that may be used for a language code."""
    return (code, *(tag for tag, meant in _LANGUAGES.items() if meant == code))


def places(keys: Sequence[_Key]) -> str | None:
    """The order of some things, which triples do not have, as a text: the rank of each key among the sorted keys.

    None where the keys are sorted and no two are equal, so that no record is needed. `in_places` is the inverse.
    """
    if len(keys) < 2:
        return None
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    order = [ranks[key] for key in keys]
    return None if order == list(range(len(keys))) else " ".join(map(str, order))


def in_places(keyed: Iterable[tuple[_Key, _Thing]], order: str | None) -> list[_Thing]:
    """Things in the order recorded by `places`; sorted by key where `order` is None or does not fit them."""
    by_key = sorted(keyed, key=lambda pair: pair[0])
    distinct = list(dict(by_key).values())
    told = [int(place) for place in (order or "").split() if place.isascii() and place.isdecimal()]
    if set(told) != set(range(len(distinct))):
        return [thing for _, thing in by_key]
    return [distinct[place] for place in told]


def datatype_name(datatype: str) -> str:
    """The local name of a datatype in the wikibase namespace: wikibase-item -> WikibaseItem."""
    return "".join(part[:1].upper() + part[1:] for part in datatype.split("-"))


DATATYPE_NAMES: Mapping[str, str] = {datatype_name(datatype): datatype for datatype in DATATYPES}


def time_text(value: TimeValue) -> str:
    """The xsd:dateTime of a time, as WikiData writes it.

    Years of precision 9 and finer are astronomical (1 BCE is 0000); coarser negative years keep their number.
    Julian dates of day precision are converted to the Gregorian calendar. Months and days that the precision
    does not vouch for are 01, and a day past its month's end becomes the last.
    """
    year, month, day = value.year, value.month or 1, value.day or 1
    if year < 0 and value.precision >= 9:
        year += 1
    if value.precision >= 11:
        converted = None
        if value.calendar == "julian" and (number := _julian_number(year, month, day)) > 0:
            centuries = (4 * (number + 32044) + 3) // 146097
            converted = _date(number + 32044 - 146097 * centuries // 4, 100 * centuries)
        year, month, day = converted or (year, month, min(day, monthrange(2000 + year % 400, month)[1]))
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T00:00:00Z"


def time_of(text: str, *, precision: int, calendar: str = "gregorian") -> TimeValue:
    """The inverse of `time_text`. Raises ValueError for anything but an xsd:dateTime or xsd:date."""
    match = _LEXICAL.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no xsd:dateTime, such as 1961-08-04T00:00:00Z")
    year, month, day = int(match[2]), int(match[3]), int(match[4])
    if month > 12 or day > 31:
        raise ValueError(f"{text!r}: month or day out of range")
    if match[1] == "-":
        year = -year
    if precision >= 11 and calendar == "julian" and month and day:
        since = year + 4800 - (14 - month) // 12
        number = _julian_number(year, month, day) - since // 100 + since // 400 + 38
        if number > 0:
            year, month, day = _date(number + 32082, 0)
    if year <= 0 and (precision >= 9 or year == 0):
        year -= 1
    return TimeValue(
        year=year,
        month=month or None if precision >= 10 else None,
        day=day or None if precision >= 11 else None,
        precision=precision,
        calendar=calendar,
    )


# Julian day numbers, astronomical years; Richards (2013), Explanatory Supplement to the Astronomical Almanac, 15.11.


def _julian_number(year: int, month: int, day: int) -> int:
    early = (14 - month) // 12
    since = year + 4800 - early
    return day + (153 * (month + 12 * early - 3) + 2) // 5 + 365 * since + since // 4 - 32083


def _date(days: int, years: int) -> tuple[int, int, int]:
    since = (4 * days + 3) // 1461
    rest = days - 1461 * since // 4
    month = (5 * rest + 2) // 153
    return years + since - 4800 + month // 10, month + 3 - 12 * (month // 10), rest - (153 * month + 2) // 5 + 1
