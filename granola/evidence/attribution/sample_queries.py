"""Queries of samples: read from published data sets, mined from a store, and extended.

Formats: SimpleQuestions on WikiData (tab-separated: subject, property, object, question; R instead of P for the
inverse property), QALD, LC-QuAD 2.0, RuBQ, WikiWebQuestions (SPARQL), and own rows (JSON, JSONL) with "question" and
"sparql" or "query". The format is detected from the content.

Extensions are a union of namesakes, or one triple added at the head or at the answer: Hu et al. 2025 (CAQA), section
3.3 and Table 3. A triple at the head replaces the name of its target in the question by its own subject, so that it is
needed for the answer. A triple at the answer enters it, as the rule says; in the examples of the appendix it leaves it.
A query whose drawn extension is impossible stays as it is; the paper leaves this open.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from abstraction.base.faults import RejectedRow, excerpt
from abstraction.files.records import open_for_reading, read_records
from granola.errors import SampleError
from granola.evidence.attribution.fact_wording import (
    RelationValues,
    follow_up_relations,
    known_properties,
    relations_sharing_answers,
)
from kg.base.model import ENTITY_ID
from kg.errors import QueryShapeError
from kg.graph.logical_query import Branch, Grounding, Hop, LogicalQuery, Shape, StoreFacts
from kg.graph.query_mining import MinedQueries, MiningSettings, name_of, namesakes
from kg.graph.sparql_shapes import query_of_sparql

_SIMPLE = re.compile(r"(Q[1-9][0-9]*)\t([PR])([1-9][0-9]*)\t(Q[1-9][0-9]*)\t([^\t]*\S)\s*\Z")
_ENTITY = re.compile(r"http://www\.wikidata\.org/entity/(Q[1-9][0-9]*)\Z")
_QUESTION = ("natural_question", "question", "question_eng", "paraphrased_question", "NNQT_question")
DAMAGED = "damaged row"  # the reason that makes the command fail
_MINED_SHARES = {Shape.SINGLE: 16, Shape.PATH: 10, Shape.TREE: 4, Shape.UNION: 2}  # queries by shape, of every 32
HUB = 500  # values of more entities are not added: such a fact ("is human") identifies nothing
_TRIED = 4  # relations tried per query; each costs a read of the store


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcedQuery:
    """A query and its source. `question`: the text in the source; `gold`: ids of the answers given there, if any."""

    id: str
    query: LogicalQuery
    source: str
    question: str | None = None
    gold: tuple[str, ...] = ()


def read_queries(
    paths: Iterable[Path], reasons: Counter[str], on_reject: Callable[[RejectedRow], None]
) -> Iterator[SourcedQuery]:
    """The queries of files, in order; skipped rows are counted by reason in `reasons`."""
    seen: set[str] = set()
    for path in paths:
        for place, row in _rows_of_file(path):
            try:
                query = _sourced_query(path.name.split(".")[0], place, row)
                # Ids of samples derive from it, so it must be unique.
                if query.id in seen:
                    raise QueryShapeError(f"id {query.id!r} stands before", reason="id twice")
            except (QueryShapeError, SampleError) as error:
                reason = error.reason if isinstance(error, QueryShapeError) else DAMAGED
                reasons[reason] += 1
                on_reject(
                    RejectedRow(source=f"{path}:{place}", reason=f"{reason}: {error}", excerpt=excerpt(repr(row)))
                )
                continue
            seen.add(query.id)
            yield query


def _rows_of_file(path: Path) -> Iterator[tuple[str, object]]:
    """The rows of a file with their positions; a damaged row is no mapping."""
    with open_for_reading(path) as stream:
        # Peeking leaves the stream at its beginning for the reader of the format.
        head = stream.peek(4096)[:4096]  # type: ignore[attr-defined]
        if b"\t" in head.split(b"\n", 1)[0] and not head.lstrip().startswith((b"{", b"[")):
            yield from ((str(at), _simple_row(line)) for at, line in enumerate(stream, 1))
            return
    for record in read_records(path):
        row: Any = record.reason if isinstance(record, RejectedRow) else record.data
        # QALD: one object with a list of rows, and perhaps one about the set.
        if isinstance(row, Mapping) and isinstance(rows := row.get("questions"), list):
            yield from ((str(at), one) for at, one in enumerate(rows, 1))
        else:
            yield record.source.removeprefix(str(path)).strip(":[]"), row


def _simple_row(line: bytes) -> object:
    """A line of SimpleQuestions as a row; a malformed line unchanged."""
    text = line.decode("utf-8", "replace").rstrip("\n")
    if (match := _SIMPLE.match(text)) is None:
        return text
    start, direction, number, answer, question = match.groups()
    hop = {"property": f"P{number}", "forward": direction == "P"}
    return {"query": {"branches": [{"start": start, "hops": [hop]}]}, "question": question, "answer_qids": [answer]}


def _sourced_query(name: str, place: str, row: object) -> SourcedQuery:
    """The query of a row, with its source. Raises QueryShapeError, SampleError."""
    if not isinstance(row, Mapping):
        raise SampleError("expected an object, or subject, property, object and question between tabs")
    number = row.get("id", row.get("uid", place))
    question = next((row[name] for name in _QUESTION if row.get(name)), None)
    # In QALD a list of texts by language.
    if isinstance(question, list):
        english = (one for one in question if isinstance(one, Mapping) and one.get("language") == "en")
        question = next(english, {}).get("string")
    lists = [row[field] for field in ("answer_qids", "ans_id", "answers") if isinstance(row.get(field), list)]
    return SourcedQuery(
        id="-".join(str(one) for one in (name, row.get("split"), number) if one is not None),
        query=_logical_query(row),
        source=name,
        question=question.strip() or None if isinstance(question, str) else None,
        gold=tuple(dict.fromkeys(found for one in lists for answer in one for found in _entities_of(answer))),
    )


def _logical_query(row: Mapping[str, Any]) -> LogicalQuery:
    given = row.get("query")
    if isinstance(given, Mapping) and "branches" in given:
        return LogicalQuery.from_json(given)
    sparql = given.get("sparql") if isinstance(given, Mapping) else given
    if not isinstance(sparql, str):
        sparql = row.get("sparql_wikidata", row.get("sparql"))
    if sparql is None and ("query" in row or "sparql" in row):
        raise QueryShapeError("the row has no query", reason="no query")
    if not isinstance(sparql, str):
        raise SampleError('no query; expected "sparql", or "query" as docs/reference/attribution.md shows')
    # Two hops and two subjects cover the four complexities of the paper.
    return query_of_sparql(sparql)


def _entities_of(answer: object) -> Iterator[str]:
    """Ids of the entities in an answer: an id, a value, or bindings in the JSON of SPARQL."""
    if isinstance(answer, str):
        yield from (answer,) if ENTITY_ID.match(answer) else ()
    elif isinstance(answer, Mapping):
        if match := _ENTITY.match(str(answer.get("value"))):
            yield match[1]
        results = answer.get("results")
        bindings = results.get("bindings") if isinstance(results, Mapping) else None
        for one in (one for one in bindings or () if isinstance(one, Mapping)):
            yield from (found for value in one.values() for found in _entities_of(value))


def mined_queries(facts: StoreFacts, number: int, *, seed: int = 0) -> Iterator[SourcedQuery]:
    """About `number` queries mined from a store, by relations that a person would ask for."""
    shares = _MINED_SHARES.items()
    settings = MiningSettings(
        counts={shape: number * share // sum(_MINED_SHARES.values()) for shape, share in shares},
        seed=seed,
        only=frozenset(known_properties()),
        follows=follow_up_relations(),
        meets=relations_sharing_answers(),
    )
    for place, query in enumerate(MinedQueries(facts, settings), 1):
        yield SourcedQuery(id=f"mined-{place}", query=query, source="mined")


class Extension(StrEnum):
    """The kind of extension."""

    NONE = "none"
    UNION = "union"
    HEAD = "head"
    ANSWER = "answer"


_OPTIONS = {
    Shape.SINGLE: (Extension.UNION, Extension.HEAD, Extension.ANSWER, Extension.NONE),
    Shape.PATH: (Extension.HEAD, Extension.ANSWER),
    Shape.TREE: (Extension.HEAD, Extension.ANSWER),
    Shape.UNION: (Extension.NONE,),
}  # equally likely


class QueryExtender:
    """Extends queries over a store."""

    def __init__(self, facts: StoreFacts, values: RelationValues) -> None:
        self._facts = facts
        self._values = values

    def extend(self, grounding: Grounding, drawing: random.Random) -> tuple[Extension, LogicalQuery | None]:
        """Draw an extension; return it with the extended query, not yet grounded, or None where impossible."""
        option = drawing.choice(_OPTIONS[grounding.query.shape])
        if option is Extension.UNION:
            return option, self._add_namesakes(grounding.query)
        if option is Extension.HEAD:
            return option, self._add_at_head(grounding, drawing)
        return option, self._add_at_answer(grounding, drawing) if option is Extension.ANSWER else None

    def _add_namesakes(self, query: LogicalQuery) -> LogicalQuery | None:
        branch = query.branches[0]
        hop = branch.hops[0]
        if not hop.forward:
            return None
        others = namesakes(self._facts, [branch.start]).get(branch.start, [])
        same = [entity_id for entity_id in others if self._facts.targets(entity_id, hop)]
        branches = (branch, *(Branch(start=entity_id, hops=branch.hops) for entity_id in same))
        return LogicalQuery(branches=branches, union=True) if same else None

    def _add_at_head(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        """Replace a start entity by another from which one relation leads to it alone: "the spouse of Anna Scott".

        Only for branches with a single hop: "the star of the work that another is based on" is not a natural question.
        """
        branches = grounding.query.branches
        at = drawing.randrange(len(branches))
        branch = branches[at]
        if len(branch.hops) > 1:
            return None
        relations = {one for one, asked in follow_up_relations().items() if branch.hops[0].property in asked}
        edge = self._edge_to(branch.start, grounding, drawing, relations - grounding.query.properties)
        # "The child of X" is ambiguous if X has several.
        if edge is None or len(self._facts.targets(*edge)) > 1:
            return None
        longer = Branch(start=edge[0], hops=(edge[1], *branch.hops))
        return LogicalQuery(branches=(*branches[:at], longer, *branches[at + 1 :]))

    def _add_at_answer(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        """Add a triple that enters an answer, by a relation that is asked for together with those of the query."""
        answer, branches = drawing.choice(grounding.answers), grounding.query.branches
        together = [set(relations_sharing_answers().get(branch.hops[-1].property, ())) for branch in branches]
        edge = self._edge_to(answer, grounding, drawing, set.intersection(*together))
        return LogicalQuery(branches=(*branches, Branch(start=edge[0], hops=(edge[1],)))) if edge else None

    def _edge_to(
        self, target: str, grounding: Grounding, drawing: random.Random, relations: Set[str]
    ) -> tuple[str, Hop] | None:
        """An entity outside the query and one of the relations, by which it leads to `target`."""
        pairs = [(prop, target) for prop in self._values.relations_to(target) if prop in relations]
        counts = self._facts.store.value_counts(pairs)
        # Count first: listing the subjects of a hub is expensive.
        few = [pair for pair in pairs if 0 < counts.get(pair, 0) <= HUB]
        drawing.shuffle(few)
        for pair in few[:_TRIED]:
            carriers = self._facts.store.referrers([pair], limit=HUB).get(pair, [])
            if entities := self._usable_entities(carriers, grounding):
                return drawing.choice(entities), Hop(property=pair[0])
        return None

    def _usable_entities(self, ids: Sequence[str], grounding: Grounding) -> list[str]:
        """The entities that have a name, are outside the query, and share no name with its entities."""
        taken = grounding.entities
        names = {None, *(name_of(self._facts.entity(entity_id)) for entity_id in taken)}
        self._facts.fetch(ids)
        others = (entity_id for entity_id in ids if entity_id.startswith("Q") and entity_id not in taken)
        return [one for one in others if name_of(self._facts.entity(one)) not in names]
