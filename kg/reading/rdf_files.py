"""RDF files -> entity objects: N-Triples, N-Quads, Turtle, RDF/XML, TriG, N3 and JSON-LD, parsed by pyoxigraph.

Triples may come in any order: the facts of one entity are gathered in a database next to the output, so that memory is
bounded, however long a file is.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from kg.base.model import id_of, signed_number
from kg.errors import SourceError
from kg.reading.dump import EXCERPT, STDIN, DamagedError, HashedReader, decompressed_chunks, file_facts, open_source
from kg.reading.entity_json import Reject
from kg.reading.rdf_entities import (
    ABOUT,
    DATA,
    ENTITY,
    NAMESPACES,
    PROPERTY_TYPE,
    SITELINKS,
    TERMS,
    Facts,
    Kind,
    Term,
    assemble_entity,
    is_supported_predicate,
    language_code,
    property_datatype,
)

ENDINGS = ("nt", "nq", "ttl", "n3", "rdf", "xml", "trig", "jsonld")  # endings that pyoxigraph recognises
_PACKED = re.compile(r"\.(?:gz|bz2|zst)\Z", re.IGNORECASE)
_SUBJECT = re.compile(re.escape(ENTITY) + r"([QP][1-9][0-9]{0,17})\Z")
_NODE = (NAMESPACES["wds"], NAMESPACES["wdv"])  # prefixes of statement and value nodes
_BATCH = 20_000  # facts in memory before they are written to the database
BASE = "http://localhost/"  # base of relative addresses; entities of WikiData have absolute ones
BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 24  # bytes
_PLACE = re.compile(r"\AParser error at line \d+ (?:between columns \d+ and \d+|column \d+): ")
_KINDS: Mapping[str, Kind] = {"NamedNode": "iri", "BlankNode": "blank", "Literal": "literal"}
_PLAIN = (NAMESPACES["xsd"] + "string", NAMESPACES["rdf"] + "langString")  # implied by a literal without datatype
Triple = tuple[str, str, Term]


@dataclass(kw_only=True)
class RDFReading:
    """Files of RDF, read once by `entities`; only terms of `languages` (None: all).

    After reading: descriptions of the files, rejects, redirects, and whether any statement was truthy, that is without
    rank and qualifiers.
    """

    paths: list[str]
    languages: frozenset[str] | None = None
    keep_partial: bool = False
    sources: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[tuple[str, Reject]] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    truthy: bool = False

    def entities(self, work: Path) -> Iterator[dict[str, Any]]:
        """Every entity described in the files, by number, properties first.

        `work`: a folder for gathered facts. Raises SourceError for an unknown format, a file that is not in its format
        or is damaged (with `keep_partial` only listed), and where there is no entity of WikiData.
        """
        with _GatheredTriples(work / "triples.sqlite", self.languages) as gathering:
            for path in self.paths:
                for triple in self._read_triples_of_file(path):
                    gathering.add(*triple)
            count = 0
            for assembled_id, facts in gathering.facts_by_entity():
                assembled = assemble_entity(assembled_id, facts, gathering.facts_of_node, gathering.datatypes)
                if assembled.merged_into is not None and assembled.merged_into != assembled_id:
                    self.redirects[assembled_id] = assembled.merged_into
                if assembled.data is not None:
                    self.truthy |= assembled.truthy
                    count += 1
                    yield assembled.data
        if not count:
            names = ", ".join(str(source["name"]) for source in self.sources)
            raise SourceError(f"{names}: no entity of WikiData in it; subjects are like {ENTITY}Q42")

    def _read_triples_of_file(self, path: str) -> Iterator[Triple]:
        name = "stdin" if path == STDIN else Path(path).name
        source = file_facts(path, name) | {"triples": 0}  # number of triples that describe entities
        self.sources.append(source)
        with open_source(path) as raw:
            stream = HashedReader(raw, name=name)  # hashed while it is read, for the manifest
            form = rdf_format_unless_by_line(name)
            chunks = decompressed_chunks(stream, name)
            try:
                triples = (
                    self._triples_by_block(chunks, name) if form is None else _parse_triples(_ChunkStream(chunks), form)
                )
                for triple in triples:
                    source["triples"] += 1
                    yield triple
            except DamagedError as error:
                if not self.keep_partial or form is not None:
                    more = "" if form else ". What precedes the damage can be kept with --keep-partial"
                    raise SourceError(f"{error}{more}") from error
                while stream.read(1 << 20):
                    pass
                self.rejects.append((name, Reject(reason="damaged-source", detail=str(error))))
            except SourceError:
                raise
            except (SyntaxError, ValueError) as error:
                raise SourceError(
                    f"{name} is not readable as {form.file_extension}: {_parse_error_reason(error)}"
                ) from error
            source["sha256"] = stream.sha256_if_finished()
        if not source["triples"]:
            first = ""
            for where, reject in self.rejects[:1]:
                first = f"; the first rejected: {where}, line {reject.line}: {reject.detail}: {reject.excerpt!r}"
            raise SourceError(f"{name}: no triple about an entity of WikiData in it{first}")

    def _triples_by_block(self, chunks: Iterable[bytes], name: str) -> Iterator[Triple]:
        """The triples of N-Quads that are read; bad lines are rejected one by one."""
        from pyoxigraph import RdfFormat

        first = 1
        for block in _cut_at_line_ends(chunks):
            try:
                triples = list(_parse_triples(block, RdfFormat.N_QUADS))
            except (SyntaxError, ValueError):  # triples after an unclosed quote would be lost with it
                triples = []
                for number, line in enumerate(block.split(b"\n"), first):
                    try:
                        triples += _parse_triples(line, RdfFormat.N_QUADS)
                    except (SyntaxError, ValueError) as error:
                        excerpt = line[:EXCERPT].decode("utf-8", "replace")
                        bad = Reject(
                            line=number, reason="not-ntriples", detail=_parse_error_reason(error), excerpt=excerpt
                        )
                        self.rejects.append((name, bad))
            yield from triples
            first += block.count(b"\n")


def rdf_format_unless_by_line(name: str) -> Any:
    """pyoxigraph's format for a file's ending, None for N-Triples and N-Quads, which are read by line.

    Raises SourceError for other endings. Standard input is N-Triples.
    """
    from pyoxigraph import RdfFormat

    ending = "nt" if name == "stdin" else _PACKED.sub("", name).rpartition(".")[2].lower()
    form = RdfFormat.from_extension(ending)
    if ending not in ENDINGS:
        allowed = ", ".join(f".{ending}" for ending in ENDINGS)
        raise SourceError(f"{name}: no RDF format has the ending .{ending}; expected {allowed}, plain, .gz, .bz2, .zst")
    return None if form in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS) else form


def _parse_triples(data: Any, form: Any) -> Iterator[Triple]:
    """The triples of bytes or a stream whose predicates are read: (subject, blank nodes with `_:`; predicate; object).

    Triples about triples are skipped. Raises SyntaxError or ValueError where the data are not in the format.
    """
    import pyoxigraph

    for quad in pyoxigraph.parse(data, form, base_iri=BASE, lenient=True):  # the dumps have IRIs that RFC 3987 forbids
        predicate, subject, thing = quad.predicate.value, quad.subject, quad.object
        kind = _KINDS.get(type(thing).__name__)
        if kind is None or not is_supported_predicate(predicate):
            continue
        language = datatype = None
        if kind == "literal":
            language, datatype = thing.language, thing.datatype.value
        term = Term(kind, thing.value, language, None if datatype in _PLAIN else datatype)
        name = subject.value
        yield name if type(subject).__name__ == "NamedNode" else f"_:{name}", predicate, term


def _parse_error_reason(error: Exception) -> str:
    text = " ".join(str(getattr(error, "msg", error)).split())
    return _PLACE.sub("", text)[:300]


def _cut_at_line_ends(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content of chunks, cut anew at line ends."""
    remainder = b""
    for chunk in chunks:
        lines, end, tail = (remainder + chunk).rpartition(b"\n")
        remainder = tail
        if end:
            yield lines + end
        elif len(remainder) > LONGEST_LINE:  # longer than any line of RDF
            yield remainder
            remainder = b""
    if remainder:
        yield remainder


class _ChunkStream:
    """Chunks of bytes as a stream to read from."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, as far as one chunk goes; b"" at the end."""
        data = self._rest or memoryview(next(self._chunks, b""))
        self._rest = data[size:]
        return bytes(data[:size])


class _GatheredTriples:
    """Triples by the entity or node that they are about, in a temporary database.

    `datatypes`: of the properties that the triples declare.
    """

    def __init__(self, path: Path, languages: frozenset[str] | None = None) -> None:
        self._languages = languages
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
            "CREATE TABLE gathered (about, facts BLOB);"  # about an entity, by its number, or a node, by its name
        )
        self._connection.execute("BEGIN")
        self._subject = ""
        self._facts: list[Any] = []  # consecutive facts of one subject
        self._rows: list[tuple[int | str, bytes]] = []
        self.datatypes: dict[str, str | None] = {}

    def __enter__(self) -> _GatheredTriples:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._path.unlink(missing_ok=True)  # removed at once: the snapshot needs the disk space

    def add(self, subject: str, predicate: str, term: Term) -> None:
        """Store a triple whose predicate is read, where its subject is an entity, a statement, a value or a page."""
        if predicate == ABOUT:
            if not (term.kind == "iri" and _SUBJECT.match(term.value)) or subject.startswith(DATA):
                return
            subject, term = term.value, Term("iri", subject)
        elif predicate in TERMS and self._languages is not None:
            if language_code(term.language or "mul") not in self._languages:
                return
        elif subject.startswith(DATA):
            if predicate != SITELINKS:
                return
            subject = ENTITY + subject.removeprefix(DATA)
        if subject != self._subject:  # dumps have the triples of a subject together: one row then
            self._queue_facts_of_subject()
            self._subject = subject
        self._facts.append([predicate, *term])

    def _queue_facts_of_subject(self) -> None:
        subject, facts = self._subject, self._facts
        self._facts = []
        name = subject.removeprefix(ENTITY)
        number = signed_number(name) if name != subject else None
        if not facts:
            return
        if number is not None or subject.startswith(_NODE):
            self._rows.append((subject if number is None else number, orjson.dumps(facts)))
            if number is not None and number < 0 and any(fact[0] == PROPERTY_TYPE for fact in facts):
                self.datatypes[name] = property_datatype(_predicates_and_terms(facts))
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._connection.executemany("INSERT INTO gathered VALUES (?, ?)", self._rows)
        self._rows.clear()

    def facts_by_entity(self) -> Iterator[tuple[str, Facts]]:
        """(entity id, all its facts), by number, properties first, once everything was added."""
        self._queue_facts_of_subject()
        self._flush()
        self._connection.execute("CREATE INDEX by_subject ON gathered (about)")
        # Numbers are less than any text.
        rows = self._connection.execute("SELECT about, facts FROM gathered WHERE about < '' ORDER BY about, rowid")
        for number, group in groupby(rows, key=itemgetter(0)):
            yield id_of(number), [fact for _, stored in group for fact in _predicates_and_terms(orjson.loads(stored))]

    def facts_of_node(self, name: str) -> Facts:
        """The facts of a statement or value node, none where it is unknown."""
        rows = self._connection.execute("SELECT facts FROM gathered WHERE about = ? ORDER BY rowid", (name,))
        return list(dict.fromkeys(fact for (stored,) in rows for fact in _predicates_and_terms(orjson.loads(stored))))


def _predicates_and_terms(stored: list[list[Any]]) -> list[tuple[str, Term]]:
    return [(predicate, Term(*term)) for predicate, *term in stored]
