"""WikiData's RDF vocabulary: prefixes, names of statement nodes, datatypes, and how it writes times.

Shared by what reads RDF and what writes it. Follows the RDF mapping of Wikibase (docs/topics/rdf-binding.md
and the classes of its repo/includes/Rdf).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kg.store.schema import DATATYPES

ENTITY = "http://www.wikidata.org/entity/"
PROP = "http://www.wikidata.org/prop/"
ONTOLOGY = "http://wikiba.se/ontology#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

PREFIXES: Mapping[str, str] = {
    "wd": ENTITY,
    "wds": ENTITY + "statement/",
    "wdv": "http://www.wikidata.org/value/",
    "wdata": "https://www.wikidata.org/wiki/Special:EntityData/",
    "wdt": PROP + "direct/",
    "wdno": PROP + "novalue/",
    "p": PROP,
    "ps": PROP + "statement/",
    "psv": PROP + "statement/value/",
    "pq": PROP + "qualifier/",
    "pqv": PROP + "qualifier/value/",
    "wikibase": ONTOLOGY,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": XSD,
    "geo": "http://www.opengis.net/ont/geosparql#",
}
GENID = "http://www.wikidata.org/.well-known/genid/"  # unknown values on the query service
MEDIA = "http://commons.wikimedia.org/wiki/Special:FilePath/"
COMMONS_DATA = "http://commons.wikimedia.org/data/main/"
UNIT_ONE = "Q199"  # stands for the unit "1"
GREGORIAN, JULIAN = ENTITY + "Q1985727", ENTITY + "Q1985786"


def datatype_name(datatype: str) -> str:
    """The local name of a datatype in the ontology: wikibase-item -> WikibaseItem."""
    return "".join(word[:1].upper() + word[1:] for word in datatype.split("-"))


DATATYPE_NAMES: Mapping[str, str] = {datatype_name(datatype): datatype for datatype in DATATYPES}

# RDF language tags that are no mere change of case of the language code (Wikibase's canonicalLanguageCodes and
# the non-standard codes of MediaWiki); only those that come from one code alone.
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
}


def language_code(tag: str) -> str:
    """The language code of an RDF language tag: en-GB -> en-gb, zh-Hant-TW -> zh-tw."""
    tag = tag.lower()
    return _LANGUAGES.get(tag, tag)


def language_tags(code: str) -> tuple[str, ...]:
    """The tags, in lower case, that stand for a language code in RDF."""
    return (code, *(tag for tag, standing_for in _LANGUAGES.items() if standing_for == code))


def statement_name(statement_id: str) -> str:
    """The local name of a statement's node: Q42$F078E5B3-... -> Q42-F078E5B3-..."""
    return re.sub(r"[^\w-]", "-", statement_id)


def statement_id(name: str, subject: str) -> str:
    """The inverse of `statement_name` for a statement of `subject`; other names stay as they are."""
    size = len(subject)
    if name[:size].upper() == subject and name[size : size + 1] == "-":
        return f"{name[:size]}${name[size + 1 :]}"
    return name


# Day counts by the usual integer formulas (E. G. Richards, in the Explanatory Supplement to the Astronomical
# Almanac, 3rd ed., section 15.11); years are astronomical, 0 is 1 BCE.


def _day_number(year: int, month: int, day: int, *, julian: bool) -> int:
    before_march = (14 - month) // 12
    years = year + 4800 - before_march
    days = day + (153 * (month + 12 * before_march - 3) + 2) // 5 + 365 * years + years // 4
    return days - 32083 if julian else days - years // 100 + years // 400 - 32045


def _date(number: int, *, julian: bool) -> tuple[int, int, int]:
    f = number + 1401
    if not julian:
        f += (4 * number + 274277) // 146097 * 3 // 4 - 38
    e = 4 * f + 3
    h = 5 * (e % 1461 // 4) + 2
    month = (h // 153 + 2) % 12 + 1
    return e // 1461 - 4716 + (14 - month) // 12, month, h % 153 // 5 + 1


_FIRST_JULIAN = -4712  # the first year that Wikibase converts, astronomical


def julian_to_gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """The same day in the proleptic Gregorian calendar. Years are astronomical: 0 is 1 BCE."""
    return _date(_day_number(year, month, day, julian=True), julian=False)


def gregorian_to_julian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """The same day in the proleptic Julian calendar. Years are astronomical: 0 is 1 BCE."""
    return _date(_day_number(year, month, day, julian=False), julian=True)


def rdf_time(year: int, month: int | None, day: int | None, *, precision: int, julian: bool) -> str:
    """A time as WikiData's RDF writes it: `year` as in JSON (-1 is 1 BCE), the result as xsd:dateTime.

    Parts that the precision does not vouch for become 01. Years before 1 CE are astronomical at precision 9
    and finer and stay as they are below. Days in the Julian calendar are written in the Gregorian one.
    """
    month = month or 1
    day = day or 1
    if precision >= 9 and year < 0:
        year += 1
    if julian and precision >= 11 and year >= _FIRST_JULIAN:
        year, month, day = julian_to_gregorian(year, month, day)
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}T00:00:00Z"


_DATE_TIME = re.compile(r"([+-]?)(\d{1,16})-(\d\d)-(\d\d)(?:T.*|Z|[+-]\d\d:\d\d)?\Z")


def json_time(text: str, *, precision: int | None = None, julian: bool = False) -> tuple[str, int] | None:
    """The inverse of `rdf_time`: (time as JSON has it, precision), or None where `text` is no date.

    Without a precision (truthy data) the coarsest that the digits allow is taken: 1 January may stand for its
    year, the first of a month for the month. That a century is meant cannot be seen.
    """
    found = _DATE_TIME.match(text)
    if found is None:
        return None
    sign, digits, month_digits, day_digits = found.groups()
    year, month, day = int(sign + digits), int(month_digits), int(day_digits)
    if precision is None:
        precision = 11 if day > 1 else 10 if month > 1 else 9
    if sign == "+":  # written raw, because the source could make no dateTime of it
        return f"{year:+05}-{month:02}-{day:02}T00:00:00Z", precision
    if julian and precision >= 11:
        converted = gregorian_to_julian(year, month, day)
        if converted[0] >= _FIRST_JULIAN:
            year, month, day = converted
    if precision >= 9 and year <= 0:
        year -= 1
    return f"{year:+05}-{month if precision > 9 else 0:02}-{day if precision > 10 else 0:02}T00:00:00Z", precision
