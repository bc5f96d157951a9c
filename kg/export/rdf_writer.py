"""A snapshot in RDF, as N-Triples or Turtle, in the vocabulary of WikiData's own dumps and query service.

What stands where
    First the declarations of properties that statements use and that are no entities of the snapshot:
    wikibase:propertyType, wikibase:directClaim and so on, but no rdf:type, which is what tells them from
    entities. Then properties by number, then items, then redirects (owl:sameAs).
    The number of sitelinks stands at the entity itself (wikibase:sitelinks), as in the query service.
    A value without an RDF form in WikiData is an rdf:JSON literal, {"type", "value"}; a URL that is no IRI an
    xsd:anyURI literal.
What RDF cannot carry
    The order of statements, qualifiers and aliases; days that do not exist (30 February); counts over the whole
    source; altitudes of coordinates. Terms in a language whose code is no language tag are left out and counted.

What comes from the snapshot is written as it stands where its characters are safe, else by rdflib's serialiser, so
that nothing breaks out of its literal or IRI.

The same content gives the same bytes. Memory is bounded: entities are written one by one, and value nodes that
were written before are remembered only up to a limit (a repeated triple says nothing new).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import md5
from io import BytesIO
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import orjson
import rdflib
from rdflib.plugins.serializers.nt import NTSerializer

from kg import rdf_vocabulary
from kg.export.output_streams import text_out
from kg.export.whole_tables import SnapshotTables
from kg.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
    Value,
)

Format = Literal["nt", "ttl"]
Pairs = list[tuple[str, str]]

_LANGUAGE = re.compile(r"[a-zA-Z]+(?:-[a-zA-Z0-9]+)*\Z")
_IRI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*\Z")
_LOCAL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?\Z")
_CONTROLS = str.maketrans(  # which may stand in a literal as they are, but not in every tool's text
    {
        "\t": "\\t", "\b": "\\b", "\f": "\\f",
        **{chr(code): f"\\u{code:04X}" for code in (*range(8), 11, *range(14, 32), 127)},
    }
)  # fmt: skip
_MOST_PLACES = 1000  # of an amount: 1E+1000000000 is a gigabyte when it is written out
_PLAIN = re.compile(r'[^\x00-\x1f\x7f"\\]*\Z')
_RESERVED = ":/?#[]@!$&'()*+,;=%~"
_ANY = rdflib.URIRef("a:a")
_HEAD = f"{_ANY.n3()} {_ANY.n3()} "
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
    """What was written: entities, statements, triples, and by kind what was left out."""

    entities: int
    statements: int
    triples: int
    left_out: Mapping[str, int] = field(default_factory=dict)


def export_rdf(
    snapshot: Path | str,
    out: Path | str,
    *,
    format: Format = "nt",
    progress: Callable[[int], None] | None = None,
) -> RDFReport:
    """Write a snapshot to `out`, gzipped where its name ends in .gz; `-` is standard output.

    `progress` is told the number of entities written so far. Raises as `SQLiteStore.open` does.
    """
    with SnapshotTables(snapshot) as tables, text_out(out) as write:
        writer = _Writer(format, tables.datatypes())
        write(writer.header(tables.manifest["snapshot_id"]))
        for prop in tables.undescribed():
            write(writer.declaration(prop))
        entities = statements = 0
        for entity in tables.entities(properties_first=True):
            write(writer.entity(entity))
            entities += 1
            statements += len(entity.statements)
            if progress is not None and entities % 1000 == 0:
                progress(entities)
        for source, target in tables.redirects():
            write(writer.redirect(source, target))
    return RDFReport(
        entities=entities,
        statements=statements,
        triples=writer.triples,
        left_out=dict(sorted(writer.left_out.items())),
    )


class _Writer:
    """Entities -> text in one of the two syntaxes."""

    def __init__(self, format: Format, datatypes: Mapping[str, str | None]) -> None:
        self._turtle = format == "ttl"
        self._datatypes = datatypes
        self._known: set[str] = set()
        self._names_of: dict[str, dict[str, str]] = {prefix: {} for prefix in rdf_vocabulary.NAMESPACES}
        self.triples = 0
        self.left_out: Counter[str] = Counter()
        self._before = {
            prefix: f"{prefix}:" if self._turtle else f"<{iri}" for prefix, iri in rdf_vocabulary.NAMESPACES.items()
        }
        self._after = "" if self._turtle else ">"
        self._a = "a" if self._turtle else self._name("rdf", "type")
        name = {local: self._name(*local.split(":")) for local in _NAMES}
        self._names = name
        self._rank = {rank: name[f"wikibase:{local}"] for rank, local in rdf_vocabulary.RANKS.items()}
        self._typed = {local: f"^^{self._name(*local.split(':'))}" for local in _TYPES}

    def _cached(self, prefix: str, local: str) -> str:
        """A name that comes again and again: of a property, or of an entity that statements point to."""
        known = self._names_of[prefix]
        name = known.get(local)
        if name is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            name = known[local] = self._name(prefix, local)
        return name

    def _name(self, prefix: str, local: str) -> str:
        if _LOCAL.match(local):
            return f"{self._before[prefix]}{local}{self._after}"
        return _iri(rdf_vocabulary.NAMESPACES[prefix] + local)

    def _node(self, statement_id: str) -> str:
        name = statement_id.replace("$", "-", 1)
        if _LOCAL.match(name):
            return self._short("wds", name)
        return _iri(rdf_vocabulary.NAMESPACES["wds"] + quote(name, safe=""))

    def _short(self, prefix: str, local: str) -> str:
        """A name whose local part is known to be letters, digits and the like."""
        return f"{self._before[prefix]}{local}{self._after}"

    def _block(self, subject: str, pairs: Pairs) -> str:
        if len(pairs) > 3:
            pairs = list(dict.fromkeys(pairs))
        self.triples += len(pairs)
        if self._turtle:
            return f"{subject} " + " ;\n\t".join([f"{p} {o}" for p, o in pairs]) + " .\n" if pairs else ""
        return "".join([f"{subject} {p} {o} .\n" for p, o in pairs])

    def header(self, snapshot_id: str) -> str:
        """Prefixes, and what the file is."""
        name = self._names
        about: Pairs = [
            (self._a, name["schema:Dataset"]),
            (name["cc:license"], "<http://creativecommons.org/publicdomain/zero/1.0/>"),
            (name["schema:identifier"], _quoted(snapshot_id)),
        ]
        prefixes = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in rdf_vocabulary.NAMESPACES.items())
        return (prefixes + "\n" if self._turtle else "") + self._block(name["wikibase:Dump"], about)

    def redirect(self, source: str, target: str) -> str:
        """A merged id."""
        return self._block(self._name("wd", source), [(self._names["owl:sameAs"], self._name("wd", target))])

    def declaration(self, prop: str) -> str:
        """A property that is no entity here."""
        return self._block(self._name("wd", prop), self._declared(prop))

    def _declared(self, prop: str) -> Pairs:
        datatype = self._datatypes.get(prop)
        pairs = [] if datatype is None else [self._datatype(datatype)]
        return pairs + [(self._names[f"wikibase:{role}"], self._name(prefix, prop)) for role, prefix in _PREDICATES]

    def _datatype(self, datatype: str) -> tuple[str, str]:
        return self._names["wikibase:propertyType"], self._name("wikibase", rdf_vocabulary.datatype_name(datatype))

    def entity(self, entity: Entity) -> str:
        """An entity, its terms and statements, and the values that were not written yet."""
        name = self._names
        wd = self._name("wd", entity.id)
        head: Pairs = []
        if entity.id[0] == "P":
            head += [(self._a, name["wikibase:Property"]), *self._declared(entity.id)]
        else:
            sitelinks = f'"{entity.sitelinks}"{self._typed["xsd:integer"]}'
            head += [(self._a, name["wikibase:Item"]), (name["wikibase:sitelinks"], sitelinks)]
        for language, text in entity.labels.items():
            head += self._term("rdfs:label", language, text)
        for language, texts in entity.aliases.items():
            for text in texts:
                head += self._term("skos:altLabel", language, text)
        for language, text in entity.descriptions.items():
            head += self._term("schema:description", language, text)
        preferred = {statement.property for statement in entity.statements if statement.rank is Rank.PREFERRED}
        blocks: list[str] = []
        for statement in entity.statements:
            rank = statement.rank
            best = rank is Rank.PREFERRED or (rank is Rank.NORMAL and statement.property not in preferred)
            self._statement(statement, best, head, blocks)
        return self._block(wd, head) + "".join(blocks)

    def _term(self, predicate: str, language: str, text: str) -> Pairs:
        if not _LANGUAGE.match(language):
            self.left_out[f"terms in {language!r}, which is no language tag"] += 1
            return []
        return [(self._names[predicate], f"{_quoted(text)}@{language}")]

    def _statement(self, statement: Statement, best: bool, head: Pairs, blocks: list[str]) -> None:
        name = self._names
        prop = statement.property
        node = self._node(statement.id)
        head.append((self._cached("p", prop), node))
        pairs: Pairs = [(self._a, name["wikibase:Statement"])]
        if best:
            pairs.append((self._a, name["wikibase:BestRank"]))
        pairs.append((name["wikibase:rank"], self._rank[statement.rank]))
        values: list[str] = []
        datatype = statement.datatype or self._datatypes.get(prop)
        if statement.kind is SnakKind.NOVALUE:
            absent = (self._a, self._cached("wdno", prop))
            pairs.append(absent)
            if best:
                head.append(absent)
        else:
            value = self._value(statement.value, datatype, f"{statement.id} main")
            pairs.append((self._cached("ps", prop), value))
            pairs += self._full("psv", prop, statement.value, values)
            if best:
                head.append((self._cached("wdt", prop), value))
        for index, snak in enumerate(statement.qualifiers):
            if snak.kind is SnakKind.NOVALUE:
                pairs.append((self._a, self._cached("wdno", snak.property)))
                continue
            value = self._value(snak.value, self._datatypes.get(snak.property), f"{statement.id} {index}")
            pairs.append((self._cached("pq", snak.property), value))
            pairs += self._full("pqv", snak.property, snak.value, values)
        blocks.append(self._block(node, pairs))
        blocks += values

    def _value(self, value: Value | None, datatype: str | None, place: str) -> str:
        """A value in its simple form; an unknown one is a blank node named by its place."""
        if isinstance(value, EntityValue):
            return self._cached("wd", value.id)
        if isinstance(value, TextValue):
            return self._text(value, datatype)
        if isinstance(value, TimeValue):
            return f'"{rdf_vocabulary.time_text(value)}"{self._typed["xsd:dateTime"]}'
        if isinstance(value, QuantityValue):
            return self._decimal(value.amount)
        if isinstance(value, OtherValue):
            return self._other(value)
        return f"_:{md5(place.encode(), usedforsecurity=False).hexdigest()}"

    def _text(self, value: TextValue, datatype: str | None) -> str:
        text = value.text
        if value.language is not None:
            tagged = f"@{value.language}" if _LANGUAGE.match(value.language) else ""
            return f"{_quoted(text)}{tagged}"
        if datatype == "url":
            return f"<{text}>" if _IRI.match(text) else f"{_quoted(text)}{self._typed['xsd:anyURI']}"
        if datatype == "commonsMedia":
            return f"<{rdf_vocabulary.FILE_PATH}{quote(text, safe='')}>"
        if datatype in ("geo-shape", "tabular-data"):
            return f"<{rdf_vocabulary.COMMONS_DATA}{quote(text, safe=':/')}>"
        return _quoted(text)

    def _decimal(self, amount: Decimal) -> str:
        if abs(amount.adjusted()) > _MOST_PLACES:
            return _quoted(str(amount))
        return f'"{amount:+f}"{self._typed["xsd:decimal"]}'

    def _other(self, value: OtherValue) -> str:
        if (point := _point(value)) is not None:
            globe = "" if point.globe.endswith("/Q2") else f"<{point.globe}> "
            text = f"{globe}Point({point.longitude} {point.latitude})"
            return f"{_quoted(text)}{self._typed['geo:wktLiteral']}"
        text = f'{{"type":{orjson.dumps(value.type).decode()},"value":{value.json}}}'
        return f"{_quoted(text)}{self._typed['rdf:JSON']}"

    def _full(self, prefix: str, prop: str, value: Value | None, blocks: list[str]) -> Pairs:
        """The link to a value node where the kind of value has one; the node itself goes to `blocks` once."""
        if not isinstance(value, TimeValue | QuantityValue | OtherValue):
            return []
        point = _point(value) if isinstance(value, OtherValue) else None
        if isinstance(value, OtherValue) and point is None:
            return []
        key = md5(repr(value).encode(), usedforsecurity=False).hexdigest()
        node = self._short("wdv", key)
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known.add(key)
            blocks.append(self._block(node, self._parts(point if isinstance(value, OtherValue) else value)))
        return [(self._cached(prefix, prop), node)]

    def _parts(self, value: TimeValue | QuantityValue | _Coordinates | None) -> Pairs:
        name, typed = self._names, self._typed
        if isinstance(value, TimeValue):
            return [
                (self._a, name["wikibase:TimeValue"]),
                (name["wikibase:timeValue"], f'"{rdf_vocabulary.time_text(value)}"{typed["xsd:dateTime"]}'),
                (name["wikibase:timePrecision"], f'"{value.precision}"{typed["xsd:integer"]}'),
                (name["wikibase:timeTimezone"], f'"0"{typed["xsd:integer"]}'),
                (name["wikibase:timeCalendarModel"], self._name("wd", rdf_vocabulary.CALENDARS[value.calendar])),
            ]
        if isinstance(value, QuantityValue):
            pairs = [
                (self._a, name["wikibase:QuantityValue"]),
                (name["wikibase:quantityAmount"], self._decimal(value.amount)),
                (name["wikibase:quantityUnit"], self._name("wd", value.unit or rdf_vocabulary.BARE_NUMBER)),
            ]
            if value.lower is not None and value.upper is not None:
                pairs += [
                    (name["wikibase:quantityUpperBound"], self._decimal(value.upper)),
                    (name["wikibase:quantityLowerBound"], self._decimal(value.lower)),
                ]
            return pairs
        if value is None:
            return []
        pairs = [
            (self._a, name["wikibase:GlobecoordinateValue"]),
            (name["wikibase:geoLatitude"], f'"{value.latitude}"{typed["xsd:double"]}'),
            (name["wikibase:geoLongitude"], f'"{value.longitude}"{typed["xsd:double"]}'),
            (name["wikibase:geoGlobe"], f"<{value.globe}>"),
        ]
        if value.precision is not None:
            pairs.append((name["wikibase:geoPrecision"], f'"{value.precision}"{typed["xsd:double"]}'))
        return pairs


_TYPES = ("xsd:integer", "xsd:decimal", "xsd:double", "xsd:dateTime", "xsd:anyURI", "geo:wktLiteral", "rdf:JSON")
_NAMES = (
    *("rdfs:label", "skos:altLabel", "schema:description", "schema:Dataset", "schema:identifier", "owl:sameAs"),
    *("cc:license", "wikibase:Dump", "wikibase:Item", "wikibase:Property", "wikibase:Statement"),
    *("wikibase:BestRank", "wikibase:rank", "wikibase:sitelinks", "wikibase:propertyType"),
    *(f"wikibase:{rank}" for rank in rdf_vocabulary.RANKS.values()),
    *(f"wikibase:{role}" for role, _ in _PREDICATES),
    *("wikibase:TimeValue", "wikibase:timeValue", "wikibase:timePrecision", "wikibase:timeTimezone"),
    *("wikibase:timeCalendarModel", "wikibase:QuantityValue", "wikibase:quantityAmount", "wikibase:quantityUnit"),
    *("wikibase:quantityUpperBound", "wikibase:quantityLowerBound", "wikibase:GlobecoordinateValue"),
    *("wikibase:geoLatitude", "wikibase:geoLongitude", "wikibase:geoGlobe", "wikibase:geoPrecision"),
)


def _quoted(text: str) -> str:
    """A literal without language and datatype, in both syntaxes."""
    if _PLAIN.match(text):
        return f'"{text}"'
    row = BytesIO()
    NTSerializer([(_ANY, _ANY, rdflib.Literal(text))]).serialize(row)  # type: ignore[arg-type]  # a graph is triples
    return row.getvalue().decode()[len(_HEAD) : -len(" .\n")].translate(_CONTROLS)


def _iri(text: str) -> str:
    """An IRI; what none may hold is percent-encoded."""
    return f"<{text}>" if _IRI.match(text) else rdflib.URIRef(quote(text, safe=_RESERVED)).n3()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Coordinates:
    latitude: float
    longitude: float
    precision: float | None
    globe: str


def _point(value: OtherValue) -> _Coordinates | None:
    """A coordinate's parts, None where it is no coordinate or not a whole one."""
    coordinate = orjson.loads(value.json) if value.type == "globecoordinate" else None
    if not isinstance(coordinate, dict):
        return None
    latitude, longitude, globe = coordinate.get("latitude"), coordinate.get("longitude"), coordinate.get("globe")
    numbers = not any(isinstance(degrees, bool) for degrees in (latitude, longitude))
    if not (numbers and isinstance(latitude, int | float) and isinstance(longitude, int | float)):
        return None
    if not isinstance(globe, str):
        return None
    precision = coordinate.get("precision")
    return (
        _Coordinates(
            latitude=latitude,
            longitude=longitude,
            precision=precision if isinstance(precision, int | float) else None,
            globe=globe,
        )
        if _IRI.match(globe)
        else None
    )
