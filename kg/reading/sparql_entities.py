"""What a SPARQL endpoint says of entities -> entity objects, as of a JSON dump.

Plain SPARQL 1.1: full statements (p:, ps:, psv:, pq:, pqv:, wikibase:rank) where the endpoint has them, else
truthy ones; labels by rdfs:label with language filters, never by the label service.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kg.errors import SelectionError, TimeLimitError
from kg.model import ENTITY_ID
from kg.rdf_vocabulary import NAMESPACES, language_tags
from kg.reading.entity_json import Reject
from kg.reading.rdf_entities import (
    ABOUT,
    PROPERTY_TYPE,
    SITELINKS,
    assemble,
    is_read,
    property_datatype,
)
from kg.reading.rdf_terms import ENTITY, VALUE_PARTS, Facts, Term
from kg.reading.sparql import Endpoint, Row
from kg.terms import normalise

_TERMS = "rdfs:label, skos:altLabel, schema:description"
_ABOUT_VALUES = ", ".join((*(f"wikibase:{name}" for name in VALUE_PARTS), "granola:time"))
_ORDERS = "granola:aliasOrder, granola:statementOrder, granola:qualifierOrder"  # at endpoints that hold an export
_NODES = 200  # value nodes a question
_PROP = NAMESPACES["p"]
_PROPERTY = re.compile(r"P[1-9][0-9]{0,17}\Z")
_IRI = re.compile(r"[^\x00-\x20<>\"{}|^`\\]+\Z")  # as may stand in a query


class SPARQLEntities:
    """Entity objects by id. `languages`: whose terms to ask for, None for all.

    After reading: `truthy`, whether any statement came without rank and qualifiers, `rejects`, facts of entities that
    their objects cannot hold, and `not_found`, names that were asked for and that nothing there bears.
    """

    def __init__(self, endpoint: Endpoint, *, languages: Iterable[str] | None = None) -> None:
        self._endpoint = endpoint
        self._filter = ""
        if languages is not None:
            tags = sorted({tag for code in {*languages, "mul"} for tag in ("", *language_tags(code))})
            listed = ", ".join(f'"{tag}"' for tag in tags)
            self._filter = f"FILTER(?p NOT IN ({_TERMS}) || LCASE(LANG(?o)) IN ({listed}))"
        self._datatypes: dict[str, str | None] = {}
        self._has_statements: bool | None = None
        self.truthy = False
        self.rejects: list[Reject] = []
        self.not_found: list[str] = []

    @property
    def has_statements(self) -> bool:
        """Whether the endpoint has statement nodes with ranks."""
        if self._has_statements is None:
            ranks = "VALUES ?rank { wikibase:NormalRank wikibase:PreferredRank }"
            self._has_statements = bool(
                self._endpoint.ask(f"SELECT ?s WHERE {{ {ranks} ?s wikibase:rank ?rank }} LIMIT 1")
            )
        return self._has_statements

    def entities(self, ids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(id as asked, entity object) for each id once, in order.

        An id that was merged gives its target's object, with `redirects`; one of which the endpoint says
        nothing an object with `missing`. Raises SelectionError for what is no id, ServiceError and its kinds.
        """
        unique_ids = list(dict.fromkeys(ids))
        for entity_id in unique_ids:
            if not ENTITY_ID.match(entity_id):
                raise SelectionError(f"{entity_id!r} cannot be asked for: an id is Q or P and a number, as in Q42")
        size = self._endpoint.profile.batch
        for at in range(0, len(unique_ids), size):
            yield from self._batch(unique_ids[at : at + size], follow=True)

    def _batch(self, ids: Sequence[str], *, follow: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        try:
            facts, nodes = self._read_facts(ids)
        except TimeLimitError:
            if len(ids) == 1:
                raise
            half = len(ids) // 2
            yield from self._batch(ids[:half], follow=follow)
            yield from self._batch(ids[half:], follow=follow)
            return
        assembled_by_id = {
            entity_id: assemble(entity_id, facts.get(entity_id, ()), lambda name: nodes.get(name, ()), self._datatypes)
            for entity_id in ids
        }
        merged = {
            entity_id: assembled.merged_into
            for entity_id, assembled in assembled_by_id.items()
            if assembled.merged_into and assembled.data is None
        }
        targets = sorted({target for entity_id, target in merged.items() if target != entity_id})
        elsewhere = dict(self._batch(targets, follow=False)) if targets and follow else {}  # one step, as the API
        for entity_id, assembled in assembled_by_id.items():
            self.rejects += assembled.rejects
            target = merged.get(entity_id)
            if assembled.data is not None:
                self.truthy |= assembled.truthy
                yield entity_id, assembled.data
            elif target is not None and target in elsewhere and "missing" not in elsewhere[target]:
                yield entity_id, {**elsewhere[target], "redirects": {"from": entity_id, "to": target}}
            else:
                yield entity_id, {"id": entity_id, "missing": ""}

    def _read_facts(
        self, ids: Sequence[str]
    ) -> tuple[dict[str, list[tuple[str, Term]]], dict[str, list[tuple[str, Term]]]]:
        """The facts of entities by id, and of their statement and value nodes by name."""
        subjects = " ".join(f"wd:{entity_id}" for entity_id in ids)
        direct = f'STRSTARTS(STR(?p), "{_PROP}{"P" if self.has_statements else "direct/P"}")'
        plain = f"{_TERMS}, owl:sameAs, rdf:type, wikibase:propertyType, wikibase:sitelinks, {_ORDERS}"
        about = self._endpoint.rows(
            "?s ?p ?o",
            f"VALUES ?s {{ {subjects} }} ?s ?p ?o . FILTER(?p IN ({plain}) || {direct}) {self._filter}",
        )
        facts = _grouped(about)
        nodes: dict[str, list[tuple[str, Term]]] = {}
        if self.has_statements:
            held = self._endpoint.rows(
                "?s ?p ?o",
                f'VALUES ?e {{ {subjects} }} ?e ?claim ?s . FILTER(STRSTARTS(STR(?claim), "{_PROP}P")) ?s ?p ?o .'
                f" FILTER(?p IN (rdf:type, wikibase:rank, wikibase:propertyType, {_ORDERS})"
                f' || STRSTARTS(STR(?p), "{_PROP}"))',
            )
            nodes = _grouped(row for row in held if is_read(row["p"].value))
            values = sorted(
                {
                    term.value
                    for pairs in nodes.values()
                    for predicate, term in pairs
                    if predicate.startswith((NAMESPACES["psv"], NAMESPACES["pqv"]))
                    and term.kind == "iri"
                    and _IRI.match(term.value)
                }
            )
            for at in range(0, len(values), _NODES):
                listed = " ".join(f"<{name}>" for name in values[at : at + _NODES])
                nodes |= _grouped(
                    self._endpoint.rows(
                        "?s ?p ?o",
                        f"VALUES ?s {{ {listed} }} ?s ?p ?o . FILTER(?p IN (rdf:type, {_ABOUT_VALUES}))",
                    )
                )
        by_id = {name.removeprefix(ENTITY): pairs for name, pairs in facts.items()}
        self._count_pages(by_id)
        self._learn_datatypes(by_id, nodes)
        return by_id, nodes

    def _count_pages(self, facts: Mapping[str, list[tuple[str, Term]]]) -> None:
        """Sitelinks by the pages about an entity, where no number of them is given."""
        lacking = [
            entity_id for entity_id, pairs in facts.items() if not any(predicate == SITELINKS for predicate, _ in pairs)
        ]
        if not lacking:
            return
        subjects = " ".join(f"wd:{entity_id}" for entity_id in lacking)
        pages = self._endpoint.rows("?s ?o", f"VALUES ?s {{ {subjects} }} ?o schema:about ?s ; schema:isPartOf ?wiki")
        for row in pages:
            if (pairs := facts.get(row["s"].value.removeprefix(ENTITY))) is not None:
                pairs.append((ABOUT, row["o"]))

    def _learn_datatypes(self, facts: Mapping[str, Facts], nodes: Mapping[str, Facts]) -> None:
        used = {
            predicate.rpartition("/")[2]
            for pairs in (*facts.values(), *nodes.values())
            for predicate, _ in pairs
            if predicate.startswith(_PROP)
        }
        lacking = sorted(prop for prop in used - self._datatypes.keys() if _PROPERTY.match(prop))
        if not lacking:
            return
        subjects = " ".join(f"wd:{prop}" for prop in lacking)
        rows = self._endpoint.rows("?s ?o", f"VALUES ?s {{ {subjects} }} ?s wikibase:propertyType ?o")
        self._datatypes |= dict.fromkeys(lacking)
        for row in rows:
            self._datatypes[row["s"].value.removeprefix(ENTITY)] = property_datatype([(PROPERTY_TYPE, row["o"])])

    def instances(self, classes: Iterable[str]) -> list[str]:
        """The entities with a P31 value that is one of some classes or below one by P279, deprecated ones left out."""
        below = set(classes)
        layer = sorted(below)
        while layer:
            new = set(self._subjects("P279", layer)) - below
            below |= new
            layer = sorted(new)
        return sorted(set(self._subjects("P31", sorted(below))))

    def _subjects(self, prop: str, targets: Sequence[str]) -> Iterator[str]:
        for at in range(0, len(targets), _NODES):
            yield from self._pointing(prop, targets[at : at + _NODES])

    def _pointing(self, prop: str, targets: Sequence[str]) -> Iterator[str]:
        listed = f"VALUES ?o {{ {' '.join(f'wd:{target}' for target in targets)} }}"
        if self.has_statements:
            pattern = (
                f"{listed} ?node ps:{prop} ?o ; wikibase:rank ?rank . ?s p:{prop} ?node ."
                " FILTER(?rank != wikibase:DeprecatedRank)"
            )
        else:
            pattern = f"{listed} ?s wdt:{prop} ?o"
        try:
            rows = self._endpoint.rows("?s", pattern)
        except TimeLimitError:
            if len(targets) == 1:
                raise
            half = len(targets) // 2
            yield from self._pointing(prop, targets[:half])
            yield from self._pointing(prop, targets[half:])
            return
        for row in rows:
            name = row["s"].value.removeprefix(ENTITY)
            if ENTITY_ID.match(name):
                yield name

    def named(self, names: Iterable[str], languages: Iterable[str]) -> list[str]:
        """The entities with a label or alias that is one of some names, in some languages.

        Endpoints compare letter by letter, and the dump as `kg.terms.normalise` does: each name is asked for in
        the spellings that are usual in labels. Names that nothing is found by are put into `not_found`.
        """
        ids: set[str] = set()
        found: set[str] = set()
        asked = sorted({name for name in names if normalise(name)})
        spellings = sorted({spelling for name in asked for spelling in _spellings(name)})
        tags = sorted({tag for code in languages for tag in language_tags(code)})
        size = max(1, _NODES // len(tags))
        for at in range(0, len(spellings), size):
            literals = " ".join(f"{_quoted(name)}@{tag}" for name in spellings[at : at + size] for tag in tags)
            rows = self._endpoint.rows(
                "?s ?o", f"VALUES ?o {{ {literals} }} {{ ?s rdfs:label ?o }} UNION {{ ?s skos:altLabel ?o }}"
            )
            for row in rows:
                entity_id = row["s"].value.removeprefix(ENTITY)
                if ENTITY_ID.match(entity_id):
                    ids.add(entity_id)
                    found.add(normalise(row["o"].value))
        self.not_found = [name for name in asked if normalise(name) not in found]
        return sorted(ids)


def _grouped(rows: Iterable[Row]) -> dict[str, list[tuple[str, Term]]]:
    grouped: dict[str, list[tuple[str, Term]]] = {}
    for row in rows:
        grouped.setdefault(row["s"].value, []).append((row["p"].value, row["o"]))
    return grouped


def _spellings(name: str) -> set[str]:
    """How labels may write a name: as it is, small, with capitals at the beginning or of all words; both quotes."""
    text = " ".join(name.split())
    cased = {text, text.lower(), text[:1].lower() + text[1:], text[:1].upper() + text[1:]}
    cased |= {" ".join(word[:1].upper() + word[1:] for word in one.split(" ")) for one in (text, text.lower())}
    if text.islower() and " " not in text:
        cased.add(text.upper())  # nasa
    return {spelling for one in cased for spelling in (one, one.replace("'", "’"), one.replace("’", "'"))}


def _quoted(text: str) -> str:
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(sign, written)
    return f'"{text}"'
