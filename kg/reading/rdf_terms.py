"""The terms of RDF as they are read: triples, language tags and names of statements in WikiData's use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from kg.base.rdf_vocabulary import NAMESPACES, datatype_name
from kg.store.schema import DATATYPES

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
DATATYPE_NAMES: Mapping[str, str] = {datatype_name(datatype): datatype for datatype in DATATYPES}


Kind = Literal["iri", "blank", "literal"]
KINDS: Mapping[str, Kind] = {"NamedNode": "iri", "BlankNode": "blank", "Literal": "literal"}


class Term(NamedTuple):
    """A term of a triple: an IRI, a blank node's name, or a literal's text with its language or datatype IRI.

    A tuple rather than a class, for there is one for each triple.
    """

    kind: Kind
    value: str
    language: str | None = None
    datatype: str | None = None


Facts = Sequence[tuple[str, Term]]  # (predicate, object) of one subject


def statement_id(node: str, subject: str) -> str:
    """The id of a statement of `subject` by its node's IRI: .../statement/Q42-F078E5B3-... -> Q42$F078E5B3-..."""
    name = unquote(node.removeprefix(NAMESPACES["wds"]))
    size = len(subject)
    if name[:size].upper() == subject and name[size : size + 1] == "-":
        return f"{name[:size]}${name[size + 1 :]}"
    return name


_PLAIN = (NAMESPACES["xsd"] + "string", NAMESPACES["rdf"] + "langString")  # implied by a literal without datatype


def triple_of(quad: Any) -> tuple[str, str, Term] | None:
    """(subject, blank ones with `_:`; predicate; object) of pyoxigraph's quad, None where a triple is in the object."""
    subject, thing = quad.subject, quad.object
    kind = KINDS.get(type(thing).__name__)
    if kind is None:
        return None
    if kind == "literal":
        language, datatype = thing.language, thing.datatype.value
        term = Term("literal", thing.value, language, None if datatype in _PLAIN else datatype)
    else:
        term = Term(kind, thing.value)
    name = subject.value
    return (name if type(subject).__name__ == "NamedNode" else f"_:{name}"), quad.predicate.value, term
