"""The terms of RDF as they are read: triples, language tags and names of statements in WikiData's use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from kg.rdf_vocabulary import NAMESPACES, datatype_name
from kg.store.schema import DATATYPES

ENTITY = NAMESPACES["wd"]
PROP = NAMESPACES["p"]
ONTOLOGY = NAMESPACES["wikibase"]
XSD = NAMESPACES["xsd"]
RDF_TYPE = NAMESPACES["rdf"] + "type"
DATA = "https://www.wikidata.org/wiki/Special:EntityData/"  # documents about entities
GENID = "http://www.wikidata.org/.well-known/genid/"  # unknown values on the query service
DATATYPE_NAMES: Mapping[str, str] = {datatype_name(datatype): datatype for datatype in DATATYPES}


Kind = Literal["iri", "blank", "literal"]
KINDS: Mapping[str, Kind] = {"NamedNode": "iri", "BlankNode": "blank", "Literal": "literal"}


class Term(NamedTuple):
    """What stands in a triple: an IRI, a blank node's name, or a literal's text with its language or datatype IRI.

    A tuple, for there are as many as triples.
    """

    kind: Kind
    value: str
    language: str | None = None
    datatype: str | None = None


Facts = Sequence[tuple[str, Term]]  # (predicate, object) of one subject

# Language tags that are more than another case of the language code (Wikibase's canonicalLanguageCodes and the
# non-standard codes of MediaWiki); only those that one code alone becomes.
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
    """The language code of a tag: en-GB -> en-gb, zh-Hant-TW -> zh-tw."""
    tag = tag.lower()
    return _LANGUAGES.get(tag, tag)


def language_tags(code: str) -> tuple[str, ...]:
    """The tags, in lower case, that may stand for a language code."""
    return (code, *(tag for tag, meant in _LANGUAGES.items() if meant == code))


def statement_id(node: str, subject: str) -> str:
    """The id of a statement of `subject` by its node's IRI: .../statement/Q42-F078E5B3-... -> Q42$F078E5B3-..."""
    name = unquote(node.removeprefix(NAMESPACES["wds"]))
    size = len(subject)
    if name[:size].upper() == subject and name[size : size + 1] == "-":
        return f"{name[:size]}${name[size + 1 :]}"
    return name


_PLAIN = (NAMESPACES["xsd"] + "string", NAMESPACES["rdf"] + "langString")


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
