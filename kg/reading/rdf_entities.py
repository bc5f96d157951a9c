"""What RDF says of an entity -> the entity object that a JSON dump would have.

Read are WikiData's own vocabulary with statement nodes, ranks, qualifiers and value nodes, and, for properties
without statement nodes, truthy values. RDF knows no order: statements come by property and id, qualifiers by
property and value, aliases by text, so that the same triples give the same object however they were written.

What is written as no value can be is passed on as it stands, for the reader to reject the statement.

Truthy values are read as far as they go: times as coarse as their digits allow, amounts without unit and bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import orjson

from kg.model import ENTITY_ID, TimeValue
from kg.rdf_vocabulary import BARE_NUMBER, CALENDARS, COMMONS_DATA, FILE_PATH, NAMESPACES, time_of
from kg.reading.entity_json import Reject
from kg.reading.numbers import by_number, finite_number, whole_number
from kg.reading.rdf_terms import (
    DATATYPE_NAMES,
    ENTITY,
    GENID,
    ONTOLOGY,
    PROP,
    RDF_TYPE,
    XSD,
    Term,
    language_code,
    statement_id,
)
from kg.reading.snaks import shortened

Facts = Sequence[tuple[str, Term]]  # (predicate, object) of one subject

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

_RANKS = {ONTOLOGY + "PreferredRank": "preferred", ONTOLOGY + "NormalRank": "normal"} | {
    ONTOLOGY + "DeprecatedRank": "deprecated"
}
_KINDS = {ONTOLOGY + "Item", ONTOLOGY + "Property"}
_CLAIM = re.compile(re.escape(PROP) + r"(|direct/|novalue/|(?:statement|qualifier)/(?:value/)?)(P[1-9]\d*)\Z")
_NODE_PREDICATES = frozenset(
    ONTOLOGY + name
    for name in (
        *("timeValue", "timePrecision", "timeCalendarModel", "quantityAmount", "quantityUnit", "quantityUpperBound"),
        *("quantityLowerBound", "geoLatitude", "geoLongitude", "geoPrecision", "geoGlobe"),
    )
)
_PLAIN_PREDICATES = frozenset(
    {*_LABELS, ALIAS, DESCRIPTION, SAME_AS, PROPERTY_TYPE, SITELINKS, RANK, RDF_TYPE, *_NODE_PREDICATES}
)
_POINT = re.compile(r"(?:<([^>]*)>\s*)?Point\s*\(\s*(\S+)\s+(\S+)\s*\)\Z", re.IGNORECASE)
_TARGET = re.compile(re.escape(ENTITY) + r"([A-Z][1-9]\d*(?:-[A-Z][1-9]\d*)?)\Z")
_GEOMETRY = (NAMESPACES["geo"] + "wktLiteral", "http://www.openlinksw.com/schemas/virtrdf#Geometry")
_MOST_SITELINKS = 10_000  # there are a thousand wikis
_NUMBERS = {XSD + name for name in ("decimal", "integer", "int", "long", "nonNegativeInteger")}


def is_read(predicate: str) -> bool:
    """Whether a predicate says anything that is read here, of whatever subject."""
    return predicate in _PLAIN_PREDICATES or predicate == ABOUT or _CLAIM.match(predicate) is not None


def property_datatype(facts: Facts) -> str | None:
    """The datatype that a property is said to have, None where none is given or known."""
    for predicate, term in facts:
        if predicate == PROPERTY_TYPE:
            return DATATYPE_NAMES.get(term.value.removeprefix(ONTOLOGY))
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembled:
    """One entity's object (None: the source only names it), what it was merged into, whether any value is truthy.

    `rejects`: what cannot stand in the object, for its reader to reject.
    """

    data: dict[str, Any] | None
    merged_into: str | None = None
    truthy: bool = False
    rejects: tuple[Reject, ...] = ()


def assemble(
    entity_id: str, facts: Facts, nodes: Callable[[str], Facts], datatypes: Mapping[str, str | None]
) -> Assembled:
    """The object of an entity from all that is said of it.

    `nodes`: what is said of a statement or value node by its IRI, empty where unknown. `datatypes`: of properties.
    """
    terms: dict[str, dict[str, Any]] = {"labels": {}, "descriptions": {}, "aliases": {}}
    fallback_labels: dict[str, str] = {}
    direct: dict[str, list[Term | None]] = {}
    claims: dict[str, list[str]] = {}
    sitelinks: str | None = None
    rejects: list[Reject] = []
    pages: set[str] = set()
    merged = None
    known = False
    for predicate, term in facts:
        if predicate in _LABELS or predicate in (ALIAS, DESCRIPTION):
            if term.kind != "literal":
                continue
            code = language_code(term.language or "mul")
            known = True
            if predicate == LABEL:
                _least(terms["labels"], code, term.value)
            elif predicate == DESCRIPTION:
                _least(terms["descriptions"], code, term.value)
            elif predicate == ALIAS:
                terms["aliases"].setdefault(code, set()).add(term.value)
            else:
                _least(fallback_labels, code, term.value)
        elif predicate == SITELINKS:
            sitelinks = term.value if sitelinks is None else min(sitelinks, term.value)
        elif predicate == ABOUT:
            pages.add(term.value)
        elif predicate == SAME_AS:
            target = term.value.removeprefix(ENTITY)
            if ENTITY_ID.match(target):
                merged = target
            elif target != term.value:  # other addresses are of the same thing elsewhere
                detail = shortened(f"{target} is no item or property to be merged into", 80)
                rejects.append(Reject(reason="bad-redirect", detail=detail, entity=entity_id))
        elif predicate == RDF_TYPE and term.value in _KINDS:
            known = True
        elif (found := _CLAIM.match(term.value if predicate == RDF_TYPE else predicate)) is not None:
            role, prop = found.groups()
            if predicate == RDF_TYPE:
                if role == "novalue/":
                    direct.setdefault(prop, []).append(None)
            elif role == "direct/":
                direct.setdefault(prop, []).append(term)
            elif role == "":
                claims.setdefault(prop, []).append(term.value)
    if not (known or claims or direct or pages or sitelinks is not None):
        return Assembled(data=None, merged_into=merged, rejects=tuple(rejects))
    for code, text in fallback_labels.items():
        terms["labels"].setdefault(code, text)
    count = None if sitelinks is None else whole_number(sitelinks, _MOST_SITELINKS)
    if sitelinks is not None and count is None:
        detail = f"{shortened(sitelinks, 40)!r} is no number of sitelinks from 0 to {_MOST_SITELINKS}"
        rejects.append(Reject(reason="bad-sitelinks", detail=detail, entity=entity_id))
    out: dict[str, Any] = {
        "type": "item" if entity_id[0] == "Q" else "property",
        "id": entity_id,
        "labels": {code: {"language": code, "value": text} for code, text in sorted(terms["labels"].items())},
        "descriptions": {
            code: {"language": code, "value": text} for code, text in sorted(terms["descriptions"].items())
        },
        "aliases": {
            code: [{"language": code, "value": text} for text in sorted(texts)]
            for code, texts in sorted(terms["aliases"].items())
        },
        "claims": {},
        "sitelinks": {str(number): {} for number in range(len(pages) if count is None else count)},
    }
    if entity_id[0] == "P" and (datatype := property_datatype(facts)) is not None:
        out["datatype"] = datatype
    truthy = False
    for prop in sorted({*claims, *direct}, key=by_number):
        if prop in claims:
            statements = [_statement(entity_id, prop, node, nodes, datatypes) for node in dict.fromkeys(claims[prop])]
        else:
            truthy = True
            statements = list(_truthy(prop, direct[prop], datatypes.get(prop)))
        out["claims"][prop] = sorted(statements, key=_order)
    return Assembled(data=out, merged_into=merged, truthy=truthy, rejects=tuple(rejects))


def _least(texts: dict[str, str], code: str, text: str) -> None:
    # Two labels in one language contradict the format; whichever is taken must not depend on the order.
    texts[code] = min(text, texts.get(code, text))


def _order(thing: Mapping[str, Any]) -> tuple[str, bytes]:
    return thing.get("id", ""), orjson.dumps(thing, option=orjson.OPT_SORT_KEYS)


def _statement(
    subject: str, prop: str, node: str, nodes: Callable[[str], Facts], datatypes: Mapping[str, str | None]
) -> dict[str, Any]:
    """A statement by its node. Without its main value it is left without mainsnak, which the reader rejects."""
    main: list[Term] = []
    full: list[str] = []
    qualified: dict[str, list[Term]] = {}
    qualified_full: dict[str, list[str]] = {}
    absent: list[str] = []
    rank = "normal"
    for predicate, term in nodes(node):
        if predicate == RANK:
            rank = _RANKS.get(term.value, term.value)
            continue
        found = _CLAIM.match(term.value if predicate == RDF_TYPE else predicate)
        if found is None:
            continue
        role, about = found.groups()
        if predicate == RDF_TYPE:
            if role == "novalue/":
                absent.append(about)
        elif role == "statement/" and about == prop:
            main.append(term)
        elif role == "statement/value/" and about == prop:
            full.append(term.value)
        elif role == "qualifier/":
            qualified.setdefault(about, []).append(term)
        elif role == "qualifier/value/":
            qualified_full.setdefault(about, []).append(term.value)
    out: dict[str, Any] = {"type": "statement", "id": statement_id(node, subject), "rank": rank}
    snaks = _snaks(prop, main, full, nodes, datatypes.get(prop))
    if not snaks and prop in absent:
        absent.remove(prop)
        snaks = [{"snaktype": "novalue", "property": prop}]
    if len(snaks) == 1:
        if (datatype := datatypes.get(prop)) is not None:
            snaks[0]["datatype"] = datatype
        out["mainsnak"] = snaks[0]
    qualifiers: dict[str, list[dict[str, Any]]] = {}
    for about in {*qualified, *qualified_full}:
        qualifiers[about] = _snaks(
            about, qualified.get(about, []), qualified_full.get(about, []), nodes, datatypes.get(about)
        )
    for about in absent:
        qualifiers.setdefault(about, []).append({"snaktype": "novalue", "property": about})
    if qualifiers:
        order = sorted(qualifiers, key=by_number)
        out["qualifiers"] = {about: sorted(qualifiers[about], key=_order) for about in order}
        out["qualifiers-order"] = order
    return out


def _truthy(prop: str, values: Iterable[Term | None], datatype: str | None) -> Iterator[dict[str, Any]]:
    for term in dict.fromkeys(values):
        snak = _snak(prop, term, datatype) if term is not None else {"snaktype": "novalue", "property": prop}
        if datatype is not None:
            snak["datatype"] = datatype
        yield {"type": "statement", "rank": "normal", "mainsnak": snak}


def _snaks(
    prop: str, simple: Iterable[Term], full: Iterable[str], nodes: Callable[[str], Facts], datatype: str | None
) -> list[dict[str, Any]]:
    """The values of a property at a node: those told in full, and the simple ones that no node tells."""
    found = [
        {"snaktype": "value", "property": prop, "datavalue": value}
        for node in dict.fromkeys(full)
        if (value := _full_value(nodes(node))) is not None
    ]
    for term in dict.fromkeys(simple):
        # Beside nodes stand the simple forms of what they tell; other kinds of value have no node.
        if not found or _is_unknown(term) or term.kind == "iri" or term.language is not None:
            found.append(_snak(prop, term, datatype))
    return found


def _is_unknown(term: Term) -> bool:
    return term.kind == "blank" or (term.kind == "iri" and term.value.startswith(GENID))


def _snak(prop: str, term: Term, datatype: str | None) -> dict[str, Any]:
    if _is_unknown(term):
        return {"snaktype": "somevalue", "property": prop}
    return {"snaktype": "value", "property": prop, "datavalue": _value(term, datatype)}


def _value(term: Term, datatype: str | None) -> dict[str, Any]:
    """A value in its simple form."""
    text = term.value
    if term.kind == "iri":
        found = _TARGET.match(text)
        if found is not None and datatype != "url":
            return {"type": "wikibase-entityid", "value": {"id": found[1]}}
        if datatype != "url":
            for base in (FILE_PATH, COMMONS_DATA):
                if text.startswith(base):
                    return {"type": "string", "value": unquote(text.removeprefix(base))}
        return {"type": "string", "value": text}
    if term.language is not None:
        return {"type": "monolingualtext", "value": {"text": text, "language": language_code(term.language)}}
    if term.datatype in (XSD + "dateTime", XSD + "date"):
        return _time(text, None, _GREGORIAN)
    if term.datatype in _NUMBERS and datatype not in ("string", "external-id"):
        return {"type": "quantity", "value": {"amount": text, "unit": "1"}}
    if term.datatype in _GEOMETRY and (point := _POINT.match(text)) is not None:
        globe, longitude, latitude = point.groups()
        return _coordinate(latitude, longitude, None, globe or ENTITY + "Q2")
    if term.datatype == NAMESPACES["rdf"] + "JSON":
        try:
            given = orjson.loads(text)
            orjson.dumps(given)
            return {"type": str(given["type"]), "value": given["value"]}
        except (TypeError, KeyError, ValueError):  # TypeError: nested too deeply to be written
            return {"value": text}
    return {"type": "string", "value": text}


def _full_value(facts: Facts) -> dict[str, Any] | None:
    """A value as its node tells it, None where the node is not there or of an unknown kind."""
    told = {predicate.removeprefix(ONTOLOGY): term.value for predicate, term in facts}
    if "timeValue" in told:
        return _time(told["timeValue"], told.get("timePrecision"), told.get("timeCalendarModel", _GREGORIAN))
    if "quantityAmount" in told:
        unit = told.get("quantityUnit", "1")
        value = {"amount": told["quantityAmount"], "unit": "1" if unit == ENTITY + BARE_NUMBER else unit}
        if "quantityLowerBound" in told and "quantityUpperBound" in told:
            value |= {"lowerBound": told["quantityLowerBound"], "upperBound": told["quantityUpperBound"]}
        return {"type": "quantity", "value": value}
    if "geoLatitude" in told and "geoLongitude" in told:
        automatic = any(p == RDF_TYPE and t.value == ONTOLOGY + "GeoAutoPrecision" for p, t in facts)
        exactness = None if automatic else told.get("geoPrecision")
        return _coordinate(told["geoLatitude"], told["geoLongitude"], exactness, told.get("geoGlobe", ENTITY + "Q2"))
    return None


def _coordinate(latitude: str, longitude: str, precision: str | None, globe: str) -> dict[str, Any]:
    value = {
        "latitude": _number(latitude),
        "longitude": _number(longitude),
        "altitude": None,
        "precision": None if precision is None else _number(precision),
        "globe": globe,
    }
    return {"type": "globecoordinate", "value": value}


def _number(text: str) -> int | float | str:
    # As PHP writes JSON: a whole number has no point.
    value = finite_number(text)
    if value is None:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e6 else value


def _time(text: str, precision_text: str | None, model: str) -> dict[str, Any]:
    """A time in JSON's form.

    Without a precision the coarsest is taken that the digits allow: 1 January may stand for its year, the first
    for its month. That a decade or a century is meant cannot be seen.
    """
    precision = None if precision_text is None else whole_number(precision_text, 14)
    calendar = _CALENDARS.get(model.rpartition("/")[2])
    value: dict[str, Any] = {"time": text, "calendarmodel": model}
    if precision_text is not None:
        value["precision"] = precision_text if precision is None else precision
        if precision is None:
            return {"type": "time", "value": value}
    try:
        if calendar is None or text.startswith("+"):  # of no year that xsd:dateTime knows: JSON's own form
            pass
        elif precision is None:
            day = time_of(text, precision=11)
            value["precision"] = found = 11 if day.day != 1 else 10 if day.month != 1 else 9
            value["time"] = _stamp(day, found)
        else:
            value["time"] = _stamp(time_of(text, precision=precision, calendar=calendar), precision)
    except ValueError:
        pass
    return {"type": "time", "value": value}


_GREGORIAN = f"{ENTITY}{CALENDARS['gregorian']}"
_CALENDARS = {name: calendar for calendar, name in CALENDARS.items()}


def _stamp(value: TimeValue, precision: int) -> str:
    month = (value.month or 0) if precision >= 10 else 0
    day = (value.day or 0) if precision >= 11 else 0
    return f"{value.year:+05}-{month:02}-{day:02}T00:00:00Z"
