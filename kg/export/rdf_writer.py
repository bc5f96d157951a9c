"""A snapshot in RDF, as N-Triples or Turtle, in the vocabulary of WikiData's own dumps and query service.

Order and forms
    First the declarations of properties that statements use and that are no entities of the snapshot:
    wikibase:propertyType, wikibase:directClaim and so on, but no rdf:type, which only
    entities have. Then properties by number, then items, then redirects (owl:sameAs).
    The number of sitelinks is a property of the entity itself (wikibase:sitelinks), as in the query service.
    A value without an RDF form in WikiData is an rdf:JSON literal, {"type", "value"}; a URL that is no IRI an
    xsd:anyURI literal. The order of aliases, statements and qualifiers, which triples do not have, is stored
    in triples of our own (`kg.reading.rdf_entities.encode_order`), and so do days that do not exist (31 June).
Omitted, for RDF has no form for it
    Counts over the whole source; altitudes of coordinates. Terms in a language whose code is no language tag are
    left out and counted.

pyoxigraph checks every IRI and language tag and writes. The same content gives the same bytes. Memory is bounded:
entities are written one by one, and value nodes that were written before are remembered only up to a limit (a
repeated triple does no harm).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from hashlib import md5
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import orjson
import pyoxigraph as rdf

from kg.base.files import open_output_bytes
from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    Snak,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
    Value,
)
from kg.reading.rdf_entities import (
    ABSENT,
    BARE_NUMBER,
    CALENDARS,
    COMMONS_DATA,
    FILE_PATH,
    NAMESPACES,
    RANKS,
    UNKNOWN,
    datatype_local_name,
    encode_order,
    language_code,
    parse_xsd_date_time,
    possible_language_tags,
    xsd_date_time,
)
from kg.store import schema
from kg.store.sqlite import SQLiteStore

Format = Literal["nt", "ttl"]
Term = rdf.NamedNode | rdf.BlankNode | rdf.Literal
Pairs = list[tuple[rdf.NamedNode, Term]]

_FORMATS = {"nt": rdf.RdfFormat.N_TRIPLES, "ttl": rdf.RdfFormat.TURTLE}
_MOST_PLACES = 1000  # digits of an amount: 1E+1000000000 would take a gigabyte when written out
_REMEMBERED = 200_000  # value nodes, and names
_PREDICATES = (
    ("directClaim", "wdt"),
    ("claim", "p"),
    ("statementProperty", "ps"),
    ("statementValue", "psv"),
    ("qualifier", "pq"),
    ("qualifierValue", "pqv"),
    ("novalue", "wdno"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RDFReport:
    """The result of an export: numbers of entities, statements and triples, and of omitted values by kind."""

    entities: int
    statements: int
    triples: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def export_rdf(
    snapshot: Path | str, out: Path | str, *, format: Format = "nt", progress: Callable[[int], None] | None = None
) -> RDFReport:
    """Write a snapshot to `out`, gzipped if its name ends in .gz; `-` is standard output.

    `progress` is called with the number of entities written so far. Raises the errors of `SQLiteStore.open`.
    """
    with SQLiteStore.open(snapshot) as store, open_output_bytes(out) as stream:
        writer = _RDFWriter(store, progress)
        rdf.serialize(writer.all_triples(), stream, _FORMATS[format], prefixes=dict(NAMESPACES))
    return RDFReport(
        entities=writer.entities,
        statements=writer.statements,
        triples=writer.triples,
        left_out=dict(sorted(writer.left_out.items())),
    )


@lru_cache(maxsize=10_000)
def _language_tag(code: str) -> str | None:
    """The RDF language tag of a code, None where no valid tag is read back as the code."""
    for tag in possible_language_tags(code):
        try:
            rdf.Literal("", language=tag)
        except ValueError:
            continue
        if language_code(tag) == code.lower():  # a tag that several codes share would be read back as another
            return tag
    return None


@lru_cache(maxsize=_REMEMBERED)
def _iri(name: str) -> rdf.NamedNode:
    """The IRI of a prefixed name; characters that no IRI may contain are percent-encoded."""
    prefix, _, local = name.partition(":")
    try:
        return rdf.NamedNode(NAMESPACES[prefix] + local)
    except ValueError:
        return rdf.NamedNode(NAMESPACES[prefix] + quote(local, safe=""))


def _typed_literal(text: str, datatype: str) -> rdf.Literal:
    return rdf.Literal(text, datatype=_iri(datatype))


class _RDFWriter:
    """A snapshot -> triples, those about one subject together."""

    def __init__(self, store: SQLiteStore, progress: Callable[[int], None] | None) -> None:
        self._store = store
        self._progress = progress
        self._datatypes = _property_datatypes(store)
        self._known: set[str] = set()
        self.entities = self.statements = self.triples = 0
        self.left_out: Counter[str] = Counter()

    def all_triples(self) -> Iterator[rdf.Triple]:
        """The description of the file, then all triples of its content."""
        about: Pairs = [
            (_iri("rdf:type"), _iri("schema:Dataset")),
            (_iri("cc:license"), rdf.NamedNode("http://creativecommons.org/publicdomain/zero/1.0/")),
            (_iri("schema:identifier"), rdf.Literal(self._store.manifest()["snapshot_id"])),
        ]
        yield from self._make_and_count_triples(_iri("wikibase:Dump"), about)
        undeclared = "SELECT DISTINCT property FROM statement WHERE -property NOT IN (SELECT id FROM entity)"
        for (number,) in self._store.stream_rows(f"{undeclared} ORDER BY property"):
            yield from self._make_and_count_triples(_iri(f"wd:P{number}"), self._property_declaration(f"P{number}"))
        for entity in self._store.all_entities(properties_first=True):
            yield from self._entity_triples(entity)
            self.entities += 1
            self.statements += len(entity.statements)
            if self._progress is not None and self.entities % 1000 == 0:
                self._progress(self.entities)
        for source, target in self._store.redirects():
            yield from self._make_and_count_triples(_iri(f"wd:{source}"), [(_iri("owl:sameAs"), _iri(f"wd:{target}"))])

    def _make_and_count_triples(self, subject: rdf.NamedNode, pairs: Pairs) -> list[rdf.Triple]:
        triples = [rdf.Triple(subject, predicate, thing) for predicate, thing in dict.fromkeys(pairs)]
        self.triples += len(triples)
        return triples

    def _property_declaration(self, prop: str) -> Pairs:
        datatype = self._datatypes.get(prop)
        pairs: Pairs = []
        if datatype is not None:
            pairs.append((_iri("wikibase:propertyType"), _iri(f"wikibase:{datatype_local_name(datatype)}")))
        return pairs + [(_iri(f"wikibase:{role}"), _iri(f"{prefix}:{prop}")) for role, prefix in _PREDICATES]

    def _entity_triples(self, entity: Entity) -> list[rdf.Triple]:
        """An entity, its terms and statements, and the values that were not written yet."""
        head: Pairs = []
        if entity.id[0] == "P":
            head += [(_iri("rdf:type"), _iri("wikibase:Property")), *self._property_declaration(entity.id)]
        else:
            head.append((_iri("rdf:type"), _iri("wikibase:Item")))
            head.append((_iri("wikibase:sitelinks"), _typed_literal(str(entity.sitelinks), "xsd:integer")))
        for language, text in entity.labels.items():
            head += self._term_pairs_if_valid_tag("rdfs:label", language, text)
        for language, texts in entity.aliases.items():
            for text in texts:
                head += self._term_pairs_if_valid_tag("skos:altLabel", language, text)
            if (order := encode_order(texts)) and (tag := _language_tag(language)):
                head.append((_iri("granola:aliasOrder"), rdf.Literal(order, language=tag)))
        for language, text in entity.descriptions.items():
            head += self._term_pairs_if_valid_tag("schema:description", language, text)
        preferred = {statement.property for statement in entity.statements if statement.rank is Rank.PREFERRED}
        ids: dict[str, list[str]] = {}
        blocks: list[rdf.Triple] = []
        for statement in entity.statements:
            rank = statement.rank
            best = rank is Rank.PREFERRED or (rank is Rank.NORMAL and statement.property not in preferred)
            self._add_statement(statement, best, head, blocks)
            ids.setdefault(statement.property, []).append(statement.id)
        for prop, stated in ids.items():
            if order := encode_order(stated):
                head.append((_iri("granola:statementOrder"), rdf.Literal(f"{prop} {order}")))
        return self._make_and_count_triples(_iri(f"wd:{entity.id}"), head) + blocks

    def _term_pairs_if_valid_tag(self, predicate: str, language: str, text: str) -> Pairs:
        if (tag := _language_tag(language)) is None:
            self.left_out[f"terms in {language!r}, which is no language tag"] += 1
            return []
        return [(_iri(predicate), rdf.Literal(text, language=tag))]

    def _add_statement(self, statement: Statement, best: bool, head: Pairs, blocks: list[rdf.Triple]) -> None:
        prop = statement.property
        node = rdf.NamedNode(NAMESPACES["wds"] + quote(statement.id.replace("$", "-", 1), safe=""))  # as WikiData
        head.append((_iri(f"p:{prop}"), node))
        pairs: Pairs = [(_iri("rdf:type"), _iri("wikibase:Statement"))]
        if best:
            pairs.append((_iri("rdf:type"), _iri("wikibase:BestRank")))  # the statements that have a wdt: triple
        pairs.append((_iri("wikibase:rank"), _iri(f"wikibase:{RANKS[statement.rank]}")))
        datatype = self._datatypes.get(prop)
        if statement.datatype is not None and statement.datatype != datatype:  # the property had another datatype
            datatype = statement.datatype
            pairs.append((_iri("wikibase:propertyType"), _iri(f"wikibase:{datatype_local_name(datatype)}")))
        values: list[rdf.Triple] = []
        if statement.kind is SnakKind.NOVALUE:
            absent = (_iri("rdf:type"), _iri(f"wdno:{prop}"))
            pairs.append(absent)
            if best:
                head.append(absent)
        else:
            value, full = self._simple_value_and_node(statement.value, datatype, f"{statement.id} main", values)
            pairs.append((_iri(f"ps:{prop}"), value))
            if full is not None:
                pairs.append((_iri(f"psv:{prop}"), full))
            if best:
                head.append((_iri(f"wdt:{prop}"), value))
        keys = [
            (int(snak.property[1:]), self._add_qualifier_return_key(snak, f"{statement.id} {index}", pairs, values))
            for index, snak in enumerate(statement.qualifiers)
        ]
        if order := encode_order(keys):
            pairs.append((_iri("granola:qualifierOrder"), rdf.Literal(order)))
        blocks += self._make_and_count_triples(node, pairs)
        blocks += values

    def _add_qualifier_return_key(self, snak: Snak, place: str, pairs: Pairs, values: list[rdf.Triple]) -> str:
        """Add a qualifier to the pairs of its statement, and return its key in the order of qualifiers."""
        if snak.kind is SnakKind.NOVALUE:
            pairs.append((_iri("rdf:type"), _iri(f"wdno:{snak.property}")))
            return ABSENT
        value, full = self._simple_value_and_node(snak.value, self._datatypes.get(snak.property), place, values)
        pairs.append((_iri(f"pq:{snak.property}"), value))
        if full is not None:
            pairs.append((_iri(f"pqv:{snak.property}"), full))
            return full.value
        if isinstance(value, rdf.Literal):
            return f"{value.value}@{value.language or ''}"
        return value.value if isinstance(value, rdf.NamedNode) else UNKNOWN

    def _simple_value_and_node(
        self, value: Value | None, datatype: str | None, place: str, blocks: list[rdf.Triple]
    ) -> tuple[Term, rdf.NamedNode | None]:
        """(simple form of a value, its value node or None); the node's triples are added to `blocks` at its first use.

        An unknown value is a blank node named by the hash of `place`.
        """
        parts: Pairs = []
        if value is None:
            return rdf.BlankNode(md5(place.encode(), usedforsecurity=False).hexdigest()), None
        if isinstance(value, EntityValue):
            return _iri(f"wd:{value.id}"), None
        if isinstance(value, TextValue):
            return _text_term(value, datatype), None
        if isinstance(value, TimeValue):
            simple, parts = _time_term_and_parts(value)
        elif isinstance(value, QuantityValue):
            simple, parts = _quantity_term_and_parts(value)
        elif (coordinate := _coordinate_term_and_parts(value)) is not None:
            simple, parts = coordinate
        else:
            return _typed_value_as_json_literal(value.type, value.json), None
        key = md5(repr(value).encode(), usedforsecurity=False).hexdigest()
        node = rdf.NamedNode(NAMESPACES["wdv"] + key)
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()  # a node that is written again adds no triple
            self._known.add(key)
            blocks += self._make_and_count_triples(node, parts)
        return simple, node


def _time_term_and_parts(value: TimeValue) -> tuple[Term, Pairs]:
    text = xsd_date_time(value)
    parts: Pairs = [
        (_iri("rdf:type"), _iri("wikibase:TimeValue")),
        (_iri("wikibase:timeValue"), _typed_literal(text, "xsd:dateTime")),
        (_iri("wikibase:timePrecision"), _typed_literal(str(value.precision), "xsd:integer")),
        (_iri("wikibase:timeTimezone"), _typed_literal("0", "xsd:integer")),  # WikiData has no other
        (_iri("wikibase:timeCalendarModel"), _iri(f"wd:{CALENDARS[value.calendar]}")),
    ]
    if parse_xsd_date_time(text, precision=value.precision, calendar=value.calendar) != value:  # 31 June
        told = f"{value.year:+05}-{value.month or 0:02}-{value.day or 0:02}T00:00:00Z"
        parts.insert(0, (_iri("granola:time"), rdf.Literal(told)))
    return _typed_literal(text, "xsd:dateTime"), parts


def _quantity_term_and_parts(value: QuantityValue) -> tuple[Term, Pairs]:
    amount = _decimal_or_double_literal(value.amount)
    parts: Pairs = [
        (_iri("rdf:type"), _iri("wikibase:QuantityValue")),
        (_iri("wikibase:quantityAmount"), amount),
        (_iri("wikibase:quantityUnit"), _iri(f"wd:{value.unit or BARE_NUMBER}")),
    ]
    if value.lower is not None and value.upper is not None:
        parts.append((_iri("wikibase:quantityUpperBound"), _decimal_or_double_literal(value.upper)))
        parts.append((_iri("wikibase:quantityLowerBound"), _decimal_or_double_literal(value.lower)))
    return amount, parts


def _coordinate_term_and_parts(value: OtherValue) -> tuple[Term, Pairs] | None:
    """A whole coordinate; None for any other value."""
    given = orjson.loads(value.json) if value.type == "globecoordinate" else None
    if not isinstance(given, dict) or not isinstance(given.get("globe"), str):
        return None
    latitude, longitude, precision = (
        number if type(number := given.get(name)) in (int, float) else None
        for name in ("latitude", "longitude", "precision")
    )
    if latitude is None or longitude is None:
        return None
    try:
        globe = rdf.NamedNode(given["globe"])  # it may be any text
    except ValueError:
        return None
    parts: Pairs = [
        (_iri("rdf:type"), _iri("wikibase:GlobecoordinateValue")),
        (_iri("wikibase:geoLatitude"), _typed_literal(str(latitude), "xsd:double")),
        (_iri("wikibase:geoLongitude"), _typed_literal(str(longitude), "xsd:double")),
        (_iri("wikibase:geoGlobe"), globe),
    ]
    if precision is not None:
        parts.append((_iri("wikibase:geoPrecision"), _typed_literal(str(precision), "xsd:double")))
    where = "" if globe.value.endswith("/Q2") else f"<{globe.value}> "  # Q2, the Earth, goes without saying
    return _typed_literal(f"{where}Point({longitude} {latitude})", "geo:wktLiteral"), parts


def _text_term(value: TextValue, datatype: str | None) -> Term:
    text = value.text
    if value.language is not None:
        if (tag := _language_tag(value.language)) is not None:
            return rdf.Literal(text, language=tag)
        return _typed_value_as_json_literal(
            "monolingualtext", orjson.dumps({"text": text, "language": value.language}).decode()
        )
    if datatype == "url":
        try:
            return rdf.NamedNode(text)
        except ValueError:
            return _typed_literal(text, "xsd:anyURI")  # kept, though no IRI
    if datatype == "commonsMedia":
        return rdf.NamedNode(FILE_PATH + quote(text, safe=""))
    if datatype in ("geo-shape", "tabular-data"):
        return rdf.NamedNode(COMMONS_DATA + quote(text, safe=":/"))
    return rdf.Literal(text)


def _typed_value_as_json_literal(kind: str, json: str) -> rdf.Literal:
    return _typed_literal(f'{{"type":{orjson.dumps(kind).decode()},"value":{json}}}', "rdf:JSON")


def _decimal_or_double_literal(amount: Decimal) -> rdf.Literal:
    if abs(amount.adjusted()) > _MOST_PLACES:
        return _typed_literal(str(amount), "xsd:double")  # the one with an exponent
    return _typed_literal(f"{amount:+f}", "xsd:decimal")  # with the sign that WikiData writes


def _property_datatypes(store: SQLiteStore) -> dict[str, str | None]:
    """Every property that is an entity here or has a statement here, by number, with its datatype or None."""
    known: dict[int, str | None] = {}
    for number, datatype in store.stream_rows("SELECT DISTINCT property, datatype FROM statement"):
        # Where statements disagree (the datatype changed in the source), the smallest name is taken: a fixed choice.
        name = schema.DATATYPES[datatype] if isinstance(datatype, int) else datatype
        known[number] = min(filter(None, (known.get(number), name)), default=None)
    for number, datatype in store.stream_rows("SELECT -id, datatype FROM entity WHERE id < 0"):
        known[number] = datatype or known.get(number)  # the property's own datatype takes precedence
    return {f"P{number}": known[number] for number in sorted(known)}
