"""Values as RDF tells them, simple or by a node -> the snaks of a JSON dump.

What is written as no value can be is passed on as it stands, for the reader to reject the statement.

Truthy values are read as far as they go: times as coarse as their digits allow, amounts without unit and bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote

import orjson

from kg.model import TimeValue
from kg.rdf_vocabulary import BARE_NUMBER, CALENDARS, COMMONS_DATA, FILE_PATH, NAMESPACES, time_of
from kg.reading.numbers import finite_number, whole_number
from kg.reading.rdf_terms import ENTITY, GENID, ONTOLOGY, RDF_TYPE, XSD, Facts, Term, language_code

_POINT = re.compile(r"(?:<([^>]*)>\s*)?Point\s*\(\s*(\S+)\s+(\S+)\s*\)\Z", re.IGNORECASE)
_TARGET = re.compile(re.escape(ENTITY) + r"([A-Z][1-9]\d*(?:-[A-Z][1-9]\d*)?)\Z")
_GEOMETRY = (NAMESPACES["geo"] + "wktLiteral", "http://www.openlinksw.com/schemas/virtrdf#Geometry")
_NUMBERS = {XSD + name for name in ("decimal", "integer", "int", "long", "nonNegativeInteger")}


def snaks_of(
    prop: str, simple: Iterable[Term], full: Iterable[Term], nodes: Callable[[str], Facts], datatype: str | None
) -> list[dict[str, Any]]:
    """The values of a property at a node: those that a node gives in full, and the simple ones that no node gives."""
    snaks = [
        {"snaktype": "value", "property": prop, "datavalue": value}
        for node in dict.fromkeys(term.value for term in full)
        if (value := _full_value(nodes(node))) is not None
    ]
    for term in dict.fromkeys(simple):
        # Beside nodes stand the simple forms of their values; other kinds of value have no node.
        if not snaks or _is_unknown(term) or term.kind == "iri" or term.language is not None:
            snaks.append(snak_of(prop, term, datatype))
    return snaks


def _is_unknown(term: Term) -> bool:
    return term.kind == "blank" or (term.kind == "iri" and term.value.startswith(GENID))


def snak_of(prop: str, term: Term, datatype: str | None) -> dict[str, Any]:
    """A value of a property in its simple form; an unknown one where it is a blank node."""
    if _is_unknown(term):
        return {"snaktype": "somevalue", "property": prop}
    return {"snaktype": "value", "property": prop, "datavalue": _value(term, datatype)}


def _value(term: Term, datatype: str | None) -> dict[str, Any]:
    """A value in its simple form."""
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
    parts = {predicate.removeprefix(ONTOLOGY): term.value for predicate, term in facts}
    if "timeValue" in parts:
        return _time(parts["timeValue"], parts.get("timePrecision"), parts.get("timeCalendarModel", _GREGORIAN))
    if "quantityAmount" in parts:
        unit = parts.get("quantityUnit", "1")
        value = {"amount": parts["quantityAmount"], "unit": "1" if unit == ENTITY + BARE_NUMBER else unit}
        if "quantityLowerBound" in parts and "quantityUpperBound" in parts:
            value |= {"lowerBound": parts["quantityLowerBound"], "upperBound": parts["quantityUpperBound"]}
        return {"type": "quantity", "value": value}
    if "geoLatitude" in parts and "geoLongitude" in parts:
        automatic = any(p == RDF_TYPE and t.value == ONTOLOGY + "GeoAutoPrecision" for p, t in facts)
        exactness = None if automatic else parts.get("geoPrecision")
        return _coordinate(parts["geoLatitude"], parts["geoLongitude"], exactness, parts.get("geoGlobe", ENTITY + "Q2"))
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
            value["precision"] = day_precision = 11 if day.day != 1 else 10 if day.month != 1 else 9
            value["time"] = _stamp(day, day_precision)
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
