"""Any SPARQL 1.1 endpoint, with requests made by SPARQLWrapper, as one adapter.

Queries are sent by POST and answers come as JSON, under a time limit of our own; status, content type and completeness
are checked. Servers cut long results at their own limit without a sign (status 200): a result counts as complete only
where it is shorter than one known to be complete, or where a count agrees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import orjson

from kg.base.model import ENTITY_ID, PROPERTY_ID, normalise
from kg.errors import BadAnswerError, ServiceError, SourceError, TimeLimitError
from kg.reading.entity_json import parse_whole_number
from kg.reading.rdf_entities import (
    ABOUT,
    ENTITY,
    NAMESPACES,
    PROPERTY_TYPE,
    SITELINKS,
    VALUE_PARTS,
    AssembledEntity,
    Term,
    assemble_entity,
    is_supported_predicate,
    possible_language_tags,
    property_datatype,
)
from kg.web.addresses import ServiceAddress
from kg.web.client import Answer, RetryDelays, ServiceClient, TryAgain, retry_after

Row = Mapping[str, Term]

_JSON = ("application/sparql-results+json", "application/json")
# Words by which servers report a time limit in the text of an answer.
_LATE = (b"timed out", b"timeout", b"time out", b"timeoutexception", b"time limit", b"execution time")
_MOST_ROWS = 10**12  # bound on a count that a server reports; larger ones count as malformed


_TERMS = "rdfs:label, skos:altLabel, schema:description"
_ABOUT_VALUES = ", ".join((*(f"wikibase:{name}" for name in VALUE_PARTS), "granola:time"))
_ORDERS = "granola:aliasOrder, granola:statementOrder, granola:qualifierOrder"  # at endpoints loaded from an export
_BATCH, _NODES = 50, 200  # entities and value nodes per query
_PROP = NAMESPACES["p"]
_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+\Z")  # characters allowed in an IRI of a query
T = TypeVar("T")
_FactsBySubject = dict[str, list[tuple[str, Term]]]  # (predicate, object) by subject

ENDPOINTS: Mapping[str, str] = {
    # The scholarly graph has what the main one lacks.
    "wdqs-main": "https://query.wikidata.org/sparql",
    "wdqs-scholarly": "https://query-scholarly.wikidata.org/sparql",
    "qlever": "https://qlever.dev/api/wikidata",
}
_TIMEOUT = 70.0  # seconds for a query; Wikimedia's services stop one after 60


class Endpoint:
    """One endpoint, by its name in ENDPOINTS or its URL; `url` is its address as it may be shown.

    Raises MissingContactError where GRANOLA_CONTACT is not set, SourceError for anything but such a name or URL.
    """

    def __init__(self, name: str, *, patience: RetryDelays | None = None) -> None:
        try:
            address = ServiceAddress.parse(ENDPOINTS.get(name, name), built_in=name in ENDPOINTS)
        except SourceError as error:
            raise SourceError(f"no SPARQL endpoint: {error}, or one of {', '.join(ENDPOINTS)}") from None
        self.url = address.shown
        self.client = ServiceClient(address, patience or RetryDelays(timeout=_TIMEOUT))
        self._whole = 1  # rows of the longest result that was complete: the server's limit is no smaller

    def select_all(self, variables: str, pattern: str) -> list[Row]:
        """All distinct solutions of a pattern for some variables (`?s ?p ?o`), in no stated order.

        Raises TimeLimitError where the query is too large for the server, which may answer smaller ones;
        BadAnswerError, QueryError, RateLimitedError or another ServiceError.
        """
        selected = f"SELECT DISTINCT {variables} WHERE {{ {pattern} }}"
        try:
            rows = self.select(selected)
        except BadAnswerError as error:  # cut off in the middle, perhaps for its size
            raise TimeLimitError(str(error)) from error
        if len(rows) < self._whole:
            return rows
        counted = self.select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {selected} }} }}")
        total = parse_whole_number(counted[0]["n"].value, _MOST_ROWS) if counted and "n" in counted[0] else None
        if total is None:
            raise BadAnswerError(f"{self.url}: a count was asked for and none came")
        if len(rows) < total:
            raise TimeLimitError(f"{self.url} gives {len(rows):,} of {total:,} rows; a question has to ask for fewer")
        if len(rows) > total:
            raise BadAnswerError(f"{self.url}: {len(rows)} rows where the count says {total}")
        self._whole = max(self._whole, total)
        return rows

    def select(self, query: str) -> list[Row]:
        """The rows of one SELECT query as the server returns them, perhaps incomplete. Errors as of `select_all`."""
        from SPARQLWrapper import JSON, POST, SPARQLWrapper

        prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in NAMESPACES.items() if f"{name}:" in query)
        wrapper = SPARQLWrapper(self.client.address.sent, returnFormat=JSON)
        wrapper.setMethod(POST)  # an address of a GET has some 8,000 characters at most
        wrapper.setQuery(prefixes + query)
        body = wrapper._createRequest().data  # SPARQLWrapper has no public way to the body it would send
        assert isinstance(body, bytes)
        asked = dict(parse_qsl(body.decode()))  # the format of the answer by each name that servers know
        return self.client.patience.call_with_retries(
            self.url, lambda: self._parse_rows(self.client.request_once("POST", ", ".join(_JSON), data=asked))
        )

    def _parse_rows(self, answer: Answer) -> list[Row]:
        """The rows of an answer. Raises TryAgain for errors that may pass, other errors for lasting ones."""
        client, url, body = self.client, self.url, answer.body
        status, headers = answer.status, answer.headers
        text = (body[:400] + body[-200:]).lower()  # servers repeat the query after the reason
        late = any(sign in text for sign in _LATE)
        if status != 200 and late and not (status in (429, 503) and retry_after(headers) is not None):
            raise TimeLimitError(f"{url} cut the query off ({status}): {client.excerpt(body)}")
        client.raise_for_status(answer)
        if headers.get("X-SQL-State", "").strip() not in ("", "00000"):  # Virtuoso's partial answers
            raise TimeLimitError(
                f"{url} gave part of the answer: {client.address.remove_secrets(headers['X-SQL-Message'])}"
            )
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind and kind not in _JSON:
            raise TryAgain(ServiceError(f"{url} answered {kind}, not JSON: {client.excerpt(body)}"))
        try:
            bindings = orjson.loads(body)["results"]["bindings"]
            return [{name: _parse_term(value) for name, value in row.items()} for row in bindings]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            if late:
                raise TimeLimitError(f"{url} ran out of time while it answered") from error
            end = client.excerpt(body[-2000:], 2000)[-160:]
            raise BadAnswerError(f"{url}: the answer is cut off or no SPARQL result: ...{end}") from error


def _parse_term(value: Mapping[str, str]) -> Term:
    kind = value["type"]
    text = value["value"]
    language, datatype = value.get("xml:lang") or None, value.get("datatype")
    if not all(isinstance(part, str | None) for part in (text, language, datatype)) or text is None:
        raise TypeError("a term's parts are text")
    if kind == "uri":
        return Term("iri", text)
    if kind == "bnode":
        return Term("blank", text)
    return Term("literal", text, language, datatype)


class SPARQLEntities:
    """Entity objects by id. `languages`: the languages of the terms to request, None for all.

    After reading: `truthy`, whether any statement came without rank and qualifiers; and `not_found`, requested names
    that no entity there has.
    """

    def __init__(self, endpoint: Endpoint, *, languages: Iterable[str] | None = None) -> None:
        self._endpoint = endpoint
        self._filter = ""
        if languages is not None:
            tags = sorted({tag for code in {*languages, "mul"} for tag in ("", *possible_language_tags(code))})
            listed = ", ".join(f'"{tag}"' for tag in tags)
            self._filter = f"FILTER(?p NOT IN ({_TERMS}) || LCASE(LANG(?o)) IN ({listed}))"
        self._datatypes: dict[str, str | None] = {}
        self.truthy = False
        self.not_found: list[str] = []

    @cached_property
    def has_statement_nodes(self) -> bool:
        """Whether the endpoint has statement nodes with ranks."""
        ranks = "VALUES ?rank { wikibase:NormalRank wikibase:PreferredRank }"
        return bool(self._endpoint.select(f"SELECT ?s WHERE {{ {ranks} ?s wikibase:rank ?rank }} LIMIT 1"))

    def entities(self, ids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(requested id, entity object) for each id once, in order.

        For a merged id the object is that of the target, with `redirects`; for one without triples at the endpoint an
        object with `missing`. Raises ServiceError and its subclasses.
        """
        unique_ids = list(dict.fromkeys(ids))
        for some in _in_batches(unique_ids, _BATCH):
            found = self._fetch_entities(some)
            merged = {name: one.merged_into for name, one in found.items() if one.data is None and one.merged_into}
            # merged ids are followed by one step, as the API does
            targets = self._fetch_entities(sorted(set(merged.values()) - found.keys())) | found
            for entity_id, one in found.items():
                target = targets[merged.get(entity_id, entity_id)]
                if target.data is None:
                    yield entity_id, {"id": entity_id, "missing": ""}
                elif target is one:
                    yield entity_id, target.data
                else:
                    yield entity_id, {**target.data, "redirects": {"from": entity_id, "to": merged[entity_id]}}

    def _fetch_entities(self, ids: Sequence[str]) -> dict[str, AssembledEntity]:
        """The entities assembled from the endpoint's triples; a batch that is too large for it is halved."""
        found: dict[str, AssembledEntity] = {}
        for some, (facts, nodes) in _ask_in_halves(self._query_facts, ids):
            for entity_id in some:
                of_it = facts.get(entity_id, ())
                one = assemble_entity(entity_id, of_it, lambda name, of=nodes: of.get(name, ()), self._datatypes)  # type: ignore[misc]
                found[entity_id] = one
                self.truthy |= one.truthy
        return found

    def _query_facts(self, ids: Sequence[str]) -> tuple[_FactsBySubject, _FactsBySubject]:
        """The facts of entities by id, and of their statement and value nodes by name."""
        ask, subjects = self._endpoint.select_all, _prefixed_names(ids)
        direct = f'STRSTARTS(STR(?p), "{_PROP}{"P" if self.has_statement_nodes else "direct/P"}")'
        plain = f"{_TERMS}, owl:sameAs, rdf:type, wikibase:propertyType, wikibase:sitelinks, {_ORDERS}"
        about = f"VALUES ?s {{ {subjects} }} ?s ?p ?o . FILTER(?p IN ({plain}) || {direct}) {self._filter}"
        facts = {name.removeprefix(ENTITY): pairs for name, pairs in _group_by_subject(ask("?s ?p ?o", about)).items()}
        nodes: _FactsBySubject = {}
        if self.has_statement_nodes:
            held = (
                f'VALUES ?e {{ {subjects} }} ?e ?claim ?s . FILTER(STRSTARTS(STR(?claim), "{_PROP}P")) ?s ?p ?o .'
                f" FILTER(?p IN (rdf:type, wikibase:rank, wikibase:propertyType, {_ORDERS})"
                f' || STRSTARTS(STR(?p), "{_PROP}"))'
            )
            nodes = _group_by_subject(row for row in ask("?s ?p ?o", held) if is_supported_predicate(row["p"].value))
            full = (NAMESPACES["psv"], NAMESPACES["pqv"])
            pairs = chain.from_iterable(nodes.values())
            values = sorted(
                {term.value for predicate, term in pairs if predicate.startswith(full) and term.kind == "iri"}
            )
            for some in _in_batches(list(filter(_IRI.match, values))):
                named = f"VALUES ?s {{ {' '.join(f'<{name}>' for name in some)} }}"
                of_values = f"{named} ?s ?p ?o . FILTER(?p IN (rdf:type, {_ABOUT_VALUES}))"
                nodes |= _group_by_subject(ask("?s ?p ?o", of_values))
        uncounted = [name for name, pairs in facts.items() if SITELINKS not in dict(pairs)]
        if uncounted:  # an entity without a stated number has one sitelink for each page about it
            pages = f"VALUES ?s {{ {_prefixed_names(uncounted)} }} ?o schema:about ?s ; schema:isPartOf ?wiki"
            for row in ask("?s ?o", pages):
                facts[row["s"].value.removeprefix(ENTITY)].append((ABOUT, row["o"]))
        self._query_unknown_datatypes(chain(chain.from_iterable(facts.values()), chain.from_iterable(nodes.values())))
        return facts, nodes

    def _query_unknown_datatypes(self, facts: Iterable[tuple[str, Term]]) -> None:
        used = {predicate.rpartition("/")[2] for predicate, _ in facts if predicate.startswith(_PROP)}
        lacking = sorted(prop for prop in used - self._datatypes.keys() if PROPERTY_ID.match(prop))
        if lacking:
            types = f"VALUES ?s {{ {_prefixed_names(lacking)} }} ?s wikibase:propertyType ?o"
            self._datatypes |= dict.fromkeys(lacking)
            for row in self._endpoint.select_all("?s ?o", types):
                self._datatypes[row["s"].value.removeprefix(ENTITY)] = property_datatype([(PROPERTY_TYPE, row["o"])])

    def transitive_instances(self, classes: Iterable[str]) -> list[str]:
        """The instances of the classes and of all classes below them, sorted, without deprecated statements."""
        below = set(classes)
        layer = sorted(below)
        while layer:
            new = set(self._subjects_with_value("P279", layer)) - below
            below |= new
            layer = sorted(new)
        return sorted(set(self._subjects_with_value("P31", sorted(below))))

    def _subjects_with_value(self, prop: str, targets: Sequence[str]) -> Iterator[str]:
        if self.has_statement_nodes:
            stated = "?s p:{0} ?node . ?node ps:{0} ?o ; wikibase:rank ?rank . FILTER(?rank != wikibase:DeprecatedRank)"
        else:
            stated = "?s wdt:{0} ?o"

        def query_subjects(some: Sequence[str]) -> list[Row]:
            return self._endpoint.select_all("?s", f"VALUES ?o {{ {_prefixed_names(some)} }} {stated.format(prop)}")

        for part in _in_batches(targets):
            for _, rows in _ask_in_halves(query_subjects, part):
                yield from filter(ENTITY_ID.match, (row["s"].value.removeprefix(ENTITY) for row in rows))

    def ids_by_name(self, names: Iterable[str], languages: Iterable[str]) -> list[str]:
        """The ids of the entities with one of the names as a label or alias in one of the languages, sorted.

        Endpoints compare letters exactly, while a dump is searched by `kg.base.model.normalise`: each name is queried
        in the spellings that are usual in labels. Names without an entity are added to `not_found`.
        """
        ids: set[str] = set()
        found: set[str] = set()
        asked = sorted({name for name in names if normalise(name)})
        spellings = sorted({spelling for name in asked for spelling in _usual_spellings(name)})
        tags = sorted({tag for code in languages for tag in possible_language_tags(code)})  # as RDF writes them
        for some in _in_batches(spellings, max(1, _NODES // len(tags))):
            # A string of JSON is one of SPARQL.
            literals = " ".join(f"{orjson.dumps(name).decode()}@{tag}" for name in some for tag in tags)
            rows = self._endpoint.select_all(
                "?s ?o", f"VALUES ?o {{ {literals} }} {{ ?s rdfs:label ?o }} UNION {{ ?s skos:altLabel ?o }}"
            )
            for row in rows:
                entity_id = row["s"].value.removeprefix(ENTITY)
                if ENTITY_ID.match(entity_id):
                    ids.add(entity_id)
                    found.add(normalise(row["o"].value))  # as the endpoint spells it
        self.not_found = [name for name in asked if normalise(name) not in found]
        return sorted(ids)


def _group_by_subject(rows: Iterable[Row]) -> _FactsBySubject:
    grouped: _FactsBySubject = {}
    for row in rows:
        grouped.setdefault(row["s"].value, []).append((row["p"].value, row["o"]))
    return grouped


def _prefixed_names(ids: Iterable[str]) -> str:
    return " ".join(f"wd:{entity_id}" for entity_id in ids)


def _in_batches(names: Sequence[str], size: int = _NODES) -> Iterator[Sequence[str]]:
    for at in range(0, len(names), size):
        yield names[at : at + size]


def _ask_in_halves(ask: Callable[[Sequence[str]], T], names: Sequence[str]) -> Iterator[tuple[Sequence[str], T]]:
    """(some of the names, the answer for these): for all names at once, or for halves where that takes too long."""
    if not names:
        return
    try:
        found = ask(names)
    except TimeLimitError:
        if len(names) == 1:
            raise
        half = len(names) // 2
        for part in (names[:half], names[half:]):
            yield from _ask_in_halves(ask, part)
    else:
        yield names, found


def _usual_spellings(name: str) -> set[str]:
    """The usual spellings of a name: as given, in lower case, the first or every word capitalised; both apostrophes."""
    text = " ".join(name.split())
    cased = {text, text.lower(), text[:1].lower() + text[1:], text[:1].upper() + text[1:]}
    cased |= {" ".join(word[:1].upper() + word[1:] for word in one.split(" ")) for one in (text, text.lower())}
    if text.islower() and " " not in text:
        cased.add(text.upper())  # nasa
    return {spelling for one in cased for spelling in (one, one.replace("'", "’"), one.replace("’", "'"))}
