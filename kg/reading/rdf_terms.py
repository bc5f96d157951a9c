"""The terms of RDF as they are read: N-Triples lines, language tags and names of statements in WikiData's use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple
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


class Term(NamedTuple):
    """What stands in a triple: an IRI, a blank node's name, or a literal's text with its language or datatype IRI.

    A tuple, for there are as many as triples.
    """

    kind: Literal["iri", "blank", "literal"]
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


_LINE = re.compile(
    rb"[ \t]*+(?:<([^>]*)>|_:([^ \t]+))[ \t]*<([^>]*)>[ \t]*"
    rb'(?:<([^>]*)>|_:([^ \t]+?)(?=[ \t.])|"((?:[^"\\]|\\.)*+)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?)'
    rb"[ \t]*(?:(?:<[^>]*>|_:[^ \t]+)[ \t]*)?\.[ \t\r]*(?:#.*)?\Z"
)
_ESCAPE = re.compile(r'\\(?:([tbnrf"\'\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.?))')
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def parse_line(
    line: bytes, read: dict[bytes, bool] | None = None, is_read: Callable[[str], bool] | None = None
) -> tuple[str, str, Term] | None:
    """Subject (blank nodes with `_:`), predicate and object of an N-Triples or N-Quads line; a graph is passed over.

    None for blank lines and comments, and for predicates that `is_read` does not want, remembered in `read`. Raises
    ValueError for anything else.
    """
    found = _LINE.match(line)
    if found is None:
        stripped = line.strip()
        if not stripped or stripped.startswith(b"#"):
            return None
        raise ValueError("expected: subject predicate object .")
    subject, blank, predicate, iri, blank_object, text, language, datatype = found.groups()
    if read is not None and is_read is not None:
        wanted = read.get(predicate)
        if wanted is None:
            wanted = read[predicate] = is_read(_plain(predicate))
        if not wanted:
            return None
    if iri is not None:
        term = Term("iri", _plain(iri))
    elif text is not None:
        term = Term(
            "literal",
            _plain(text),
            language.decode() if language else None,
            _plain(datatype) if datatype is not None else None,
        )
    else:
        term = Term("blank", _plain(blank_object))
    return (_plain(subject) if subject is not None else f"_:{_plain(blank)}"), _plain(predicate), term


def _plain(given: bytes) -> str:
    text = given.decode("utf-8")
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return _ESCAPED[found[1]]
    if digits := found[2] or found[3]:
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise ValueError(f"{found[0]} is no character")
        return chr(code)
    raise ValueError(f"{found[0]!r} is no escape")
