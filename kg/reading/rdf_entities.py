"""WikiData in RDF: its vocabulary, and the triples of an entity -> the entity object that a JSON dump would have.

The binding: Wikibase, docs/topics/rdf-binding.md.
Supported are WikiData's own vocabulary with statement nodes, ranks, qualifiers and value nodes, and, for properties
without statement nodes, truthy values. RDF has no order: statements come by property and id, qualifiers by property
and value, aliases by text, so that the same triples give the same object in whatever order they were written; or in
the order recorded in triples of our own (`encode_order`).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import unquote

import orjson

from kg.base.model import ENTITY_ID, Rank, TimeValue
from kg.reading.entity_json import id_sort_key, parse_finite_number, parse_whole_number
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
    "granola": "urn:granola:",  # ours: order, see `encode_order`, and times that xsd:dateTime cannot express
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


def possible_language_tags(code: str) -> tuple[str, ...]:
    """The tags, in lower case, that may be used for a language code."""
    return (code, *(tag for tag, meant in _LANGUAGES.items() if meant == code))


def encode_order(keys: Sequence[_Key]) -> str | None:
    """The order of keys as a text, for triples have no order: the rank of each key among the sorted keys.

    None where the keys are sorted and distinct, so that no record is needed. `restore_order` is the inverse.
    """
    if len(keys) < 2:
        return None
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    order = [ranks[key] for key in keys]
    return None if order == list(range(len(keys))) else " ".join(map(str, order))


def restore_order(keyed: Iterable[tuple[_Key, _Thing]], order: str | None) -> list[_Thing]:
    """Things in the order recorded by `encode_order`; sorted by key where `order` is None or does not fit them."""
    by_key = sorted(keyed, key=lambda pair: pair[0])
    distinct = list(dict(by_key).values())
    told = [int(place) for place in (order or "").split() if place.isascii() and place.isdecimal()]
    if set(told) != set(range(len(distinct))):
        return [thing for _, thing in by_key]
    return [distinct[place] for place in told]


def datatype_local_name(datatype: str) -> str:
    """The local name of a datatype in the wikibase namespace: wikibase-item -> WikibaseItem."""
    return "".join(part[:1].upper() + part[1:] for part in datatype.split("-"))


DATATYPE_NAMES: Mapping[str, str] = {datatype_local_name(datatype): datatype for datatype in DATATYPES}


def xsd_date_time(value: TimeValue) -> str:
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
        if value.calendar == "julian" and (number := _julian_day_number(year, month, day)) > 0:
            centuries = (4 * (number + 32044) + 3) // 146097
            converted = _date_of_days_since_epoch_march(number + 32044 - 146097 * centuries // 4, 100 * centuries)
        year, month, day = converted or (year, month, min(day, monthrange(2000 + year % 400, month)[1]))
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T00:00:00Z"


def parse_xsd_date_time(text: str, *, precision: int, calendar: str = "gregorian") -> TimeValue:
    """The inverse of `xsd_date_time`. Raises ValueError for anything but an xsd:dateTime or xsd:date."""
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
        number = _julian_day_number(year, month, day) - since // 100 + since // 400 + 38
        if number > 0:
            year, month, day = _date_of_days_since_epoch_march(number + 32082, 0)
    if year <= 0 and (precision >= 9 or year == 0):
        year -= 1
    return TimeValue(
        year=year,
        month=month or None if precision >= 10 else None,
        day=day or None if precision >= 11 else None,
        precision=precision,
        calendar=calendar,
    )


def _julian_day_number(year: int, month: int, day: int) -> int:
    early = (14 - month) // 12
    since = year + 4800 - early
    return day + (153 * (month + 12 * early - 3) + 2) // 5 + 365 * since + since // 4 - 32083


def _date_of_days_since_epoch_march(days: int, years: int) -> tuple[int, int, int]:
    since = (4 * days + 3) // 1461
    rest = days - 1461 * since // 4
    month = (5 * rest + 2) // 153
    return years + since - 4800 + month // 10, month + 3 - 12 * (month // 10), rest - (153 * month + 2) // 5 + 1


_POINT = re.compile(r"(?:<([^>]*)>\s*)?Point\s*\(\s*(\S+)\s+(\S+)\s*\)\Z", re.IGNORECASE)
_TARGET = re.compile(re.escape(ENTITY) + r"([A-Z][1-9]\d*(?:-[A-Z][1-9]\d*)?)\Z")
_GEOMETRY = (NAMESPACES["geo"] + "wktLiteral", "http://www.openlinksw.com/schemas/virtrdf#Geometry")
_JSON = NAMESPACES["rdf"] + "JSON"
_NUMBERS = {XSD + name for name in ("decimal", "integer", "int", "long", "nonNegativeInteger")}
_TIMES = (XSD + "dateTime", XSD + "date")
# datatypes of the simple values that a value node describes in full
_OF_NODES = {*_NUMBERS, *_TIMES, *_GEOMETRY, XSD + "double"}
_GREGORIAN = f"{ENTITY}{CALENDARS['gregorian']}"
_CALENDARS = {name: calendar for calendar, name in CALENDARS.items()}
LABEL = NAMESPACES["rdfs"] + "label"
ALIAS = NAMESPACES["skos"] + "altLabel"
DESCRIPTION = NAMESPACES["schema"] + "description"
SAME_AS = NAMESPACES["owl"] + "sameAs"
PROPERTY_TYPE = ONTOLOGY + "propertyType"
SITELINKS = ONTOLOGY + "sitelinks"
RANK = ONTOLOGY + "rank"
ABOUT = NAMESPACES["schema"] + "about"  # here: from an entity to a page about it
_LABELS = (LABEL, NAMESPACES["skos"] + "prefLabel", NAMESPACES["schema"] + "name")
TERMS = frozenset({*_LABELS, ALIAS, DESCRIPTION})
_RANKS = {ONTOLOGY + name: rank.value for rank, name in RANKS.items()}
_ROLES = ("statement/", "statement/value/", "qualifier/", "qualifier/value/")
_KINDS = {ONTOLOGY + "Item", ONTOLOGY + "Property"}
_CLAIM = re.compile(re.escape(PROP) + r"(|direct/|novalue/|(?:statement|qualifier)/(?:value/)?)(P[1-9]\d*)\Z")
_OURS = ALIAS_ORDER, STATEMENT_ORDER, QUALIFIER_ORDER, _EXACT_TIME = tuple(
    NAMESPACES["granola"] + name for name in ("aliasOrder", "statementOrder", "qualifierOrder", "time")
)
_PLAIN_PREDICATES = {*_LABELS, ALIAS, DESCRIPTION, SAME_AS, PROPERTY_TYPE, SITELINKS, RANK, RDF_TYPE, *_OURS}
_PLAIN_PREDICATES |= {ONTOLOGY + name for name in VALUE_PARTS}
_MOST_SITELINKS = 10_000  # there are a thousand wikis
_OF_ITSELF = {*TERMS, SITELINKS, ABOUT}  # predicates that only entities have that were not merged into another


def keyed_snaks(
    prop: str, simple: Iterable[Term], full: Iterable[Term], nodes: Callable[[str], Facts], datatype: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """(key, snak) of the values of a property: from value nodes, and from simple forms that no value node describes."""
    snaks = [
        (node, {"snaktype": "value", "property": prop, "datavalue": value})
        for node in dict.fromkeys(term.value for term in full)
        if (value := _datavalue_of_node(nodes(node))) is not None
    ]
    has_nodes = bool(snaks)
    for term in dict.fromkeys(simple):
        # Values with a node have a simple form too; other kinds of value have no node.
        if not has_nodes or term.datatype not in _OF_NODES:
            key = f"{term.value}@{term.language or ''}" if term.kind == "literal" else term.value
            snaks.append((UNKNOWN if _is_unknown_value(term) else key, simple_snak(prop, term, datatype)))
    return snaks


def _is_unknown_value(term: Term) -> bool:
    return term.kind == "blank" or (term.kind == "iri" and term.value.startswith(GENID))


def simple_snak(prop: str, term: Term, datatype: str | None) -> dict[str, Any]:
    """The snak of a value in its simple form; a blank node is an unknown value."""
    if _is_unknown_value(term):
        return {"snaktype": "somevalue", "property": prop}
    return {"snaktype": "value", "property": prop, "datavalue": _datavalue_of_simple_form(term, datatype)}


def _datavalue_of_simple_form(term: Term, datatype: str | None) -> dict[str, Any]:
    """The datavalue of a term in its simple form."""
    text = term.value
    if term.kind == "iri":
        match = _TARGET.match(text)
        if match is not None and datatype != "url":
            return {"type": "wikibase-entityid", "value": {"id": match[1]}}
        if datatype != "url":
            for base in (FILE_PATH, COMMONS_DATA):
                if text.startswith(base):
                    return {"type": "string", "value": unquote(text.removeprefix(base))}
        return {"type": "string", "value": text}
    if term.language is not None:
        return {"type": "monolingualtext", "value": {"text": text, "language": language_code(term.language)}}
    if term.datatype in _TIMES:
        return _time_value(text, None, _GREGORIAN)
    if term.datatype in _NUMBERS and datatype not in ("string", "external-id"):
        return {"type": "quantity", "value": {"amount": text, "unit": "1"}}
    if term.datatype in _GEOMETRY and (point := _POINT.match(text)) is not None:
        globe, longitude, latitude = point.groups()
        return _coordinate_value(latitude, longitude, None, globe or ENTITY + "Q2")
    if term.datatype == _JSON:
        try:
            given = orjson.loads(text)
            orjson.dumps(given)
            return {"type": str(given["type"]), "value": given["value"]}
        except (TypeError, KeyError, ValueError):  # TypeError: nested too deeply to be written
            return {"value": text}
    return {"type": "string", "value": text}


def _datavalue_of_node(facts: Facts) -> dict[str, Any] | None:
    """The value that a node describes, None where the node is missing or of an unknown kind."""
    parts = {predicate.removeprefix(ONTOLOGY): term.value for predicate, term in facts}
    if "timeValue" in parts:
        time = _time_value(parts["timeValue"], parts.get("timePrecision"), parts.get("timeCalendarModel", _GREGORIAN))
        if _EXACT_TIME in parts:
            time["value"]["time"] = parts[_EXACT_TIME]
        return time
    if "quantityAmount" in parts:
        unit = parts.get("quantityUnit", "1")
        value = {"amount": parts["quantityAmount"], "unit": "1" if unit == ENTITY + BARE_NUMBER else unit}
        if "quantityLowerBound" in parts and "quantityUpperBound" in parts:
            value |= {"lowerBound": parts["quantityLowerBound"], "upperBound": parts["quantityUpperBound"]}
        return {"type": "quantity", "value": value}
    if "geoLatitude" in parts and "geoLongitude" in parts:
        automatic = any(p == RDF_TYPE and t.value == ONTOLOGY + "GeoAutoPrecision" for p, t in facts)
        exactness = None if automatic else parts.get("geoPrecision")
        return _coordinate_value(
            parts["geoLatitude"], parts["geoLongitude"], exactness, parts.get("geoGlobe", ENTITY + "Q2")
        )
    return None


def _coordinate_value(latitude: str, longitude: str, precision: str | None, globe: str) -> dict[str, Any]:
    value = {
        "latitude": _json_number_or_text(latitude),
        "longitude": _json_number_or_text(longitude),
        "altitude": None,
        "precision": None if precision is None else _json_number_or_text(precision),
        "globe": globe,
    }
    return {"type": "globecoordinate", "value": value}


def _json_number_or_text(text: str) -> int | float | str:
    # As PHP writes JSON: a whole number has no point.
    value = parse_finite_number(text)
    if value is None:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e6 else value


def _time_value(text: str, precision_text: str | None, model: str) -> dict[str, Any]:
    """A time in JSON's form.

    Without a precision the coarsest that fits the digits is assumed: 1 January may mean its year, the first of a month
    its month. Decades and centuries cannot be recognised.
    """
    precision = None if precision_text is None else parse_whole_number(precision_text, 14)
    calendar = _CALENDARS.get(model.rpartition("/")[2])
    value: dict[str, Any] = {"time": text, "calendarmodel": model}
    if precision_text is not None:
        value["precision"] = precision_text if precision is None else precision
        if precision is None:
            return {"type": "time", "value": value}
    try:
        if calendar is None or text.startswith("+"):  # with a plus sign it is already in the form of the JSON dumps
            pass
        elif precision is None:
            day = parse_xsd_date_time(text, precision=11)
            value["precision"] = day_precision = 11 if day.day != 1 else 10 if day.month != 1 else 9
            value["time"] = _wikidata_timestamp(day, day_precision)
        else:
            value["time"] = _wikidata_timestamp(
                parse_xsd_date_time(text, precision=precision, calendar=calendar), precision
            )
    except ValueError:
        pass
    return {"type": "time", "value": value}


def _wikidata_timestamp(value: TimeValue, precision: int) -> str:
    month = (value.month or 0) if precision >= 10 else 0
    day = (value.day or 0) if precision >= 11 else 0
    return f"{value.year:+05}-{month:02}-{day:02}T00:00:00Z"


@lru_cache(maxsize=100_000)
def is_supported_predicate(predicate: str) -> bool:
    """Whether triples with this predicate are read, whatever their subject."""
    return predicate in _PLAIN_PREDICATES or predicate == ABOUT or _role_and_property(predicate) is not None


@lru_cache(maxsize=100_000)
def _role_and_property(predicate: str) -> tuple[str, str] | None:
    """(role, property) of a predicate in WikiData's namespaces of properties."""
    match = _CLAIM.match(predicate)
    return None if match is None else (match[1], match[2])


def property_datatype(facts: Facts) -> str | None:
    """The datatype that the triples state for a property, None where none is given or known."""
    for predicate, term in facts:
        if predicate == PROPERTY_TYPE:
            return DATATYPE_NAMES.get(term.value.removeprefix(ONTOLOGY))
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class AssembledEntity:
    """One entity's object (None: the source only mentions it), its target if merged, whether any value is truthy."""

    data: dict[str, Any] | None
    merged_into: str | None = None
    truthy: bool = False


def assemble_entity(
    entity_id: str, facts: Facts, nodes: Callable[[str], Facts], datatypes: Mapping[str, str | None]
) -> AssembledEntity:
    """The JSON object of an entity from all its facts.

    `nodes`: the facts of a statement or value node by its IRI, empty where unknown. `datatypes`: those of properties.
    """
    objects, claims, direct = _facts_by_role(facts)
    # owl:sameAs with other addresses names the same thing in other data sets, not a merged id.
    same = [name for term in objects.get(SAME_AS, ()) if ENTITY_ID.match(name := term.value.removeprefix(ENTITY))]
    merged_into = same[-1] if same else None
    is_typed = any(term.value in _KINDS for term in objects.get(RDF_TYPE, ()))
    if not (claims or direct or is_typed or not _OF_ITSELF.isdisjoint(objects)):
        return AssembledEntity(data=None, merged_into=merged_into)
    out: dict[str, Any] = {
        "type": "item" if entity_id[0] == "Q" else "property",
        "id": entity_id,
        "labels": _terms_by_language(_text_by_language(objects, *_LABELS[1:]) | _text_by_language(objects, LABEL)),
        "descriptions": _terms_by_language(_text_by_language(objects, DESCRIPTION)),
        "aliases": _aliases_by_language(objects),
        "claims": _statements_by_property(entity_id, objects, claims, direct, nodes, datatypes),
        "sitelinks": {str(number): {} for number in range(_sitelink_count(objects))},
    }
    if entity_id[0] == "P" and (datatype := property_datatype(facts)) is not None:
        out["datatype"] = datatype
    return AssembledEntity(data=out, merged_into=merged_into, truthy=not direct.keys() <= claims.keys())


def _facts_by_role(facts: Facts) -> tuple[dict[str, list[Term]], dict[str, list[str]], dict[str, list[Term | None]]]:
    """(objects by predicate, statement nodes by property, truthy values by property: None for the value "no value")."""
    objects: dict[str, list[Term]] = {}
    claims: dict[str, list[str]] = {}
    direct: dict[str, list[Term | None]] = {}
    for predicate, term in facts:
        role, prop = _role_and_property(predicate) or (None, "")
        if role == "direct/":
            direct.setdefault(prop, []).append(term)
        elif role == "":
            # A literal names no node; each is a statement that will be found to lack its value.
            claims.setdefault(prop, []).append(term.value if term.kind == "iri" else repr(term[1:]))
        elif predicate == RDF_TYPE and (absent := _novalue_property(term)) is not None:
            direct.setdefault(absent, []).append(None)
        elif term.kind == "literal" or predicate not in TERMS:
            objects.setdefault(predicate, []).append(term)
    return objects, claims, direct


def _aliases_by_language(objects: Mapping[str, list[Term]]) -> dict[str, list[dict[str, str]]]:
    texts_of: dict[str, set[str]] = {}
    for term in objects.get(ALIAS, ()):
        texts_of.setdefault(language_code(term.language or "mul"), set()).add(term.value)
    orders = _text_by_language(objects, ALIAS_ORDER)
    return {
        code: [
            {"language": code, "value": text} for text in restore_order(((one, one) for one in texts), orders.get(code))
        ]
        for code, texts in sorted(texts_of.items())
    }


def _statements_by_property(
    subject: str,
    objects: Mapping[str, list[Term]],
    claims: Mapping[str, list[str]],
    direct: Mapping[str, list[Term | None]],
    nodes: Callable[[str], Facts],
    datatypes: Mapping[str, str | None],
) -> dict[str, list[dict[str, Any]]]:
    """The statements by property: from its statement nodes, or from its truthy values where it has no nodes."""
    orders: dict[str, str] = {}
    for prop, _, order in sorted(term.value.partition(" ") for term in objects.get(STATEMENT_ORDER, ())):
        orders.setdefault(prop, order)
    stated_of: dict[str, list[dict[str, Any]]] = {}
    for prop in sorted({*claims, *direct}, key=id_sort_key):
        if prop in claims:
            unique = dict.fromkeys(claims[prop])
            stated = [_statement_json(subject, prop, node, nodes, datatypes) for node in unique]
            keyed = zip(zip((one["id"] for one in stated), unique, strict=True), stated, strict=True)
            stated_of[prop] = restore_order(keyed, orders.get(prop))
        else:
            datatype = datatypes.get(prop)
            truthy: list[dict[str, Any]] = []
            for value in dict.fromkeys(direct[prop]):
                snak = simple_snak(prop, value, datatype) if value else {"snaktype": "novalue", "property": prop}
                snak |= {} if datatype is None else {"datatype": datatype}
                truthy.append({"type": "statement", "rank": "normal", "mainsnak": snak})
            # Truthy statements have no ids: sorted by their JSON.
            stated_of[prop] = sorted(truthy, key=partial(orjson.dumps, option=orjson.OPT_SORT_KEYS))
    return stated_of


def _text_by_language(objects: Mapping[str, list[Term]], *predicates: str) -> dict[str, str]:
    """Texts by language code."""
    texts: dict[str, str] = {}
    for term in chain.from_iterable(objects.get(predicate, ()) for predicate in predicates):
        code = language_code(term.language or "mul")
        # Two labels in one language contradict the format; whichever is taken must not depend on the order.
        texts[code] = min(term.value, texts.get(code, term.value))
    return texts


def _novalue_property(kind: Term) -> str | None:
    """The property that an rdf:type of "no value" names, None for other types."""
    role, prop = _role_and_property(kind.value) or (None, None)
    return prop if role == "novalue/" else None


def _sitelink_count(objects: Mapping[str, list[Term]]) -> int:
    """The stated number of sitelinks; where none is stated, the number of pages about the entity."""
    numbers = (parse_whole_number(term.value, _MOST_SITELINKS) for term in objects.get(SITELINKS, ()))
    stated = [number for number in numbers if number is not None]
    return min(stated) if stated else len({term.value for term in objects.get(ABOUT, ())})  # a page may be stated twice


def _terms_by_language(texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {code: {"language": code, "value": text} for code, text in sorted(texts.items())}


def _statement_json(
    subject: str, prop: str, node: str, nodes: Callable[[str], Facts], datatypes: Mapping[str, str | None]
) -> dict[str, Any]:
    """A statement from the facts of its node. Without a main value it gets no mainsnak, and the reader rejects it."""
    by_role: dict[str, dict[str, list[Term]]] = {role: {} for role in _ROLES}  # role -> property -> values
    absent: list[str] = []
    rank, order, datatype = "normal", None, datatypes.get(prop)
    for predicate, term in nodes(node):
        if predicate == RANK:
            rank = _RANKS.get(term.value, term.value)
        elif predicate == PROPERTY_TYPE:  # stated where it differs from the present datatype of the property
            datatype = property_datatype([(predicate, term)])
        elif predicate == QUALIFIER_ORDER:
            # of two contradicting orders the smaller: a fixed choice
            order = term.value if order is None else min(order, term.value)
        elif predicate == RDF_TYPE:
            if (about := _novalue_property(term)) is not None:
                absent.append(about)
        elif (claim := _role_and_property(predicate)) is not None and claim[0] in by_role:
            by_role[claim[0]].setdefault(claim[1], []).append(term)
    name = unquote(node.removeprefix(NAMESPACES["wds"]))  # Q42-F078E5B3-..., of the statement Q42$F078E5B3-...
    size = len(subject)
    if name[:size].upper() == subject and name[size : size + 1] == "-":
        name = f"{name[:size]}${name[size + 1 :]}"
    out: dict[str, Any] = {"type": "statement", "id": name, "rank": rank}
    simple, full = by_role["statement/"].get(prop, ()), by_role["statement/value/"].get(prop, ())
    snaks = [snak for _, snak in keyed_snaks(prop, simple, full, nodes, datatype)]
    if not snaks and prop in absent:
        absent.remove(prop)
        snaks = [{"snaktype": "novalue", "property": prop}]
    if len(snaks) == 1:  # a statement has exactly one main value
        if datatype is not None:
            snaks[0]["datatype"] = datatype
        out["mainsnak"] = snaks[0]
    qualifiers = [
        ((*id_sort_key(of), key), snak)
        for of in {*by_role["qualifier/"], *by_role["qualifier/value/"]}
        for key, snak in keyed_snaks(
            of, by_role["qualifier/"].get(of, ()), by_role["qualifier/value/"].get(of, ()), nodes, datatypes.get(of)
        )
    ] + [((*id_sort_key(of), ABSENT), {"snaktype": "novalue", "property": of}) for of in absent]
    if qualifiers:
        by_property: dict[str, list[Any]] = {}
        for snak in restore_order(qualifiers, order):
            by_property.setdefault(snak["property"], []).append(snak)
        out |= {"qualifiers": by_property, "qualifiers-order": list(by_property)}
    return out
