"""Queries of samples, read from published data sets, mined from a store and extended; and edits of their facts.

Formats: SimpleQuestions on WikiData (tab-separated: subject, property, object, question; R instead of P for the
inverse property), QALD, LC-QuAD 2.0, RuBQ, WikiWebQuestions (SPARQL), and own rows (JSON, JSONL) with "question" and
"sparql" or "query". The format is detected from the content.

Extensions are a union of namesakes, or one triple added at the head or at the answer: Hu et al. 2025 (CAQA), section
3.3 and Table 3. A triple at the head replaces the name of its target in the question by its own subject, so that it is
needed for the answer. A triple at the answer leads to it, as the rule demands; in the examples of the appendix it
starts there. A query whose drawn extension is impossible stays as it is; the paper leaves this open.

Edits make citations support the answer, lack a part, contradict it or be irrelevant (section 3.4): question and answer
statement remain those of the true answer. The paper asserts its labels; here they are proved: the query is run on the
facts of a sample and on the whole graph.
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
from abstraction.base.properties import with_role
from abstraction.files.records import open_for_reading, read_records
from granola.errors import SampleError
from granola.evidence.attribution.attribution_task import Category, NoSampleError
from granola.evidence.attribution.sample_texts import (
    CLASS,
    RelationValues,
    follow_up_relations,
    properties_with_question,
    related_properties,
    relations_sharing_answers,
    wording_templates,
)
from kg.base.model import ENTITY_ID, Statement, TimeValue
from kg.errors import QueryShapeError
from kg.graph.logical_query import Branch, Fact, FactList, Grounding, Hop, LogicalQuery, Shape, StoreFacts, ground
from kg.graph.query_mining import MinedQueries, MiningSettings, english_label, namesakes
from kg.graph.sparql_shapes import query_of_sparql

FactsByBranch = tuple[tuple[Fact, ...], ...]  # for each branch, the facts that its citations state
_CANDIDATES = 2_000  # entities of a class that are read: large classes have millions
_DRAWN = 24  # candidates drawn from those of _CANDIDATES: each one costs reads of the store
_DEPTH = 4  # steps upwards to containers and superclasses
_MOST_STATEMENTS = 60  # statements of an entity that are considered
# country, location, citizenship, country of origin
_PLACING = tuple(Hop(property=prop) for prop in ("P17", "P131", "P27", "P495"))
# birth, inception, publication
_DATING = frozenset({"P569", "P571", "P577"})
_END_ALONE = 0.55  # share of paths with one answer that are reduced to their last fact
_PERIOD = 40  # years; dates this close count as contemporary


def branch_facts(grounding: Grounding) -> FactsByBranch:
    """The facts that lead to the answers, for each branch of the query, without repeats."""
    return tuple(
        tuple(dict.fromkeys(fact for answer in grounding.answers for fact in grounding.ways[answer][at]))
        for at in range(len(grounding.query.branches))
    )


class EvidenceEditor:
    """Edits the facts that a query needs into the facts that citations of a category state."""

    def __init__(self, facts: StoreFacts, values: RelationValues) -> None:
        self._facts = facts
        self._above: dict[str, Set[str]] = {}
        self._values = values
        upward = (with_role("containing") | with_role("classing")) - {CLASS}
        self._upward = [Hop(property=prop) for prop in sorted(upward)]
        self._smallest: dict[tuple[str, ...], list[str]] = {}  # by classes: members of the smallest that has several

    def evidence_for_category(self, category: Category, grounding: Grounding, drawing: random.Random) -> FactsByBranch:
        """The facts for citations of a category. Raises NoSampleError."""
        groups = branch_facts(grounding)
        if category is Category.SUPPORTIVE:
            return groups
        if category is Category.PARTIAL:
            return self._partly_supporting_facts(grounding, groups, drawing)
        if category is Category.CONTRADICTORY:
            return self._contradicting_facts(grounding, groups, drawing)
        return self._irrelevant_evidence(grounding, drawing)

    def _partly_supporting_facts(
        self, grounding: Grounding, groups: FactsByBranch, drawing: random.Random
    ) -> FactsByBranch:
        """Remove one fact of a path, whose remainder still names the answer; remove one branch of a tree or union.

        Of a path with several answers, the last fact of one is removed. Otherwise the first fact is removed and, in
        about half of the samples, replaced by a fact about the subject that does not bear on the answer. Without
        replacements the names of the question would be missing exactly from partial samples; with replacements in all,
        the number of names would reveal the category.
        """
        if grounding.query.shape is Shape.PATH:
            ways = [grounding.ways[answer][0] for answer in grounding.answers]
            if len(ways) > 1:
                gone = {drawing.choice(ways)[-1]}
                return (tuple(fact for fact in groups[0] if fact not in gone),)
            left = tuple(fact for fact in groups[0] if fact == ways[0][-1])
            if len(left) == len(groups[0]):
                raise NoSampleError("every fact of the path names the answer")
            if drawing.random() < _END_ALONE:
                return (left,)
            start, excluded = grounding.query.branches[0].start, grounding.entities
            return ((*self._draw_irrelevant_chain(start, 1, excluded, grounding, drawing), *left),)
        at = drawing.randrange(len(groups))
        # A fact that another branch needs too must remain.
        gone = set(groups[at]).difference(*(group for other, group in enumerate(groups) if other != at))
        return tuple(tuple(fact for fact in group if fact not in gone) for group in groups)

    def _contradicting_facts(
        self, grounding: Grounding, groups: FactsByBranch, drawing: random.Random
    ) -> FactsByBranch:
        """Replace each answer by another entity; in a union only one answer."""
        lasts = [branch.hops[-1] for branch in grounding.query.branches]
        single = (hop for hop in lasts if hop.forward and hop.qualifier is None)
        # An author may have written both works: another value is no contradiction.
        if all(self._values.is_often_multivalued(hop.property) for hop in single):
            raise NoSampleError("subjects of the relation often have several values: another contradicts none")
        replaced = list(grounding.answers)
        if grounding.query.shape is Shape.UNION:
            # The other answers of the union remain true.
            replaced = [drawing.choice(replaced)]
        replacements: dict[str, str] = {}
        for answer in replaced:
            replacements[answer] = self._draw_wrong_answer(answer, grounding, set(replacements.values()), drawing)
        return tuple(tuple(_replace_subject_and_object(fact, replacements) for fact in group) for group in groups)

    def _draw_wrong_answer(self, answer: str, grounding: Grounding, used_ids: set[str], drawing: random.Random) -> str:
        """Draw an entity of the class of the answer for which the facts of the query are false, at any rank or time."""
        facts = self._facts
        inside = grounding.entities
        names = {name.casefold() for entity_id in inside for name in self._labels_and_aliases(entity_id)}
        classes = self._values.classes(answer)
        if not classes:
            raise NoSampleError("the answer has no class")
        lasts = [branch.hops[-1] for branch in grounding.query.branches]
        relations = dict.fromkeys(last.qualifier or last.property for last in lasts if last.forward)
        # Values of the same relations make plausible wrong answers.
        values = [self._values.values_by_class(prop) for prop in relations]
        plausible = dict.fromkeys(one for own in values for kind in classes for one in own.get(kind, ()))
        if classes not in self._smallest:
            pairs = [(CLASS, class_id) for class_id in classes]
            referrers_of = facts.store.referrers(pairs, limit=_CANDIDATES)
            several = [referrers_of[pair] for pair in pairs if len(referrers_of.get(pair, ())) > 1]
            self._smallest[classes] = min(several, key=len, default=[])
        for pool in (plausible, self._smallest[classes]):
            candidates = [entity_id for entity_id in pool if entity_id not in inside and entity_id not in used_ids]
            drawn = drawing.sample(candidates, min(_DRAWN, len(candidates)))
            # All candidates are read from the store at once.
            facts.fetch(drawn)
            # The most similar candidate first: it is hardest to notice.
            for entity_id in sorted(drawn, key=lambda other: -self._similarity(answer, other)):
                name = english_label(facts.entity(entity_id))
                known = {other.casefold() for other in self._labels_and_aliases(entity_id)}
                # A namesake or a container of the answer, or its kind, might still be correct.
                if name is None or known & names or answer in self._with_containers_and_superclasses(entity_id):
                    continue
                if entity_id in self._with_containers_and_superclasses(answer):
                    continue
                about = [fact for fact in grounding.facts() if answer in (fact.subject, fact.object)]
                if not any(is_true(_replace_subject_and_object(fact, {answer: entity_id}), facts) for fact in about):
                    return entity_id
        raise NoSampleError("no other entity of the answer's class is false for sure")

    def _similarity(self, answer: str, other: str) -> int:
        """The number of shared classes, places and dates: a wrong answer is more plausible the more it shares."""
        kinds = len(set(self._values.classes(answer)) & set(self._values.classes(other)))
        places = sum(
            bool(set(self._facts.targets(answer, hop)) & set(self._facts.targets(other, hop))) for hop in _PLACING
        )
        dates = [
            [one.value for one in self._statements(end) if one.property in _DATING and isinstance(one.value, TimeValue)]
            for end in (answer, other)
        ]
        return kinds + places + any(abs(one.year - two.year) <= _PERIOD for one in dates[0] for two in dates[1])

    def _statements(self, entity_id: str) -> Sequence[Statement]:
        entity = self._facts.entity(entity_id)
        return entity.statements if entity is not None else ()

    def _with_containers_and_superclasses(self, entity_id: str) -> Set[str]:
        """The entity, its containers and the classes that it is a kind of."""
        if entity_id not in self._above:
            seen, layer = {entity_id}, [entity_id]
            for _ in range(_DEPTH):
                self._facts.fetch(layer)
                reached = [one for node in layer for hop in self._upward for one in self._facts.targets(node, hop)]
                layer = [target for target in dict.fromkeys(reached) if target not in seen]
                seen.update(layer)
            self._above[entity_id] = seen
        return self._above[entity_id]

    def _labels_and_aliases(self, entity_id: str) -> list[str]:
        entity = self._facts.entity(entity_id)
        if entity is None:
            return []
        return [*entity.labels.values(), *(alias for aliases in entity.aliases.values() for alias in aliases)]

    def _irrelevant_evidence(self, grounding: Grounding, drawing: random.Random) -> FactsByBranch:
        """Facts about each subject, as many as in the query, by relations unrelated to those of the query."""
        excluded = set(grounding.entities)
        if grounding.query.shape is Shape.TREE:
            # A tree has one answer for all subjects; its irrelevant evidence must have the same form.
            return self._irrelevant_paths_to_shared_end(grounding, excluded, drawing)
        groups = []
        for branch in grounding.query.branches:
            groups.append(self._draw_irrelevant_chain(branch.start, len(branch.hops), excluded, grounding, drawing))
            excluded.update(fact.object for fact in groups[-1])
        return tuple(groups)

    def _irrelevant_paths_to_shared_end(
        self, grounding: Grounding, excluded: Set[str], drawing: random.Random
    ) -> FactsByBranch:
        """Irrelevant paths from all subjects that end in one shared entity, just as the paths of the query end in one
        answer.
        """
        branches = grounding.query.branches
        for _ in range(3):
            ways = [
                self._draw_irrelevant_chain(b.start, len(b.hops) - 1, excluded, grounding, drawing) for b in branches
            ]
            ends = [way[-1].object if way else branch.start for way, branch in zip(ways, branches, strict=True)]
            passed = excluded | {fact.object for way in ways for fact in way}
            led = [{one.object: one for one in self._irrelevant_facts(end, passed, grounding)} for end in ends]
            # Sorted, because sets have no stable order between runs.
            common = sorted(set.intersection(*(set(one) for one in led)))
            if common and len(set(ends)) == len(ends):
                target = drawing.choice(common)
                return tuple((*way, one[target]) for way, one in zip(ways, led, strict=True))
        raise NoSampleError("the subjects have no irrelevant facts that meet")

    def _draw_irrelevant_chain(
        self, start: str, length: int, excluded: Set[str], grounding: Grounding, drawing: random.Random
    ) -> tuple[Fact, ...]:
        """A chain of `length` irrelevant facts."""
        for _ in range(3):
            facts: list[Fact] = []
            node, seen = start, set(excluded)
            while len(facts) < length and (steps := self._irrelevant_facts(node, seen, grounding)):
                facts.append(drawing.choice(steps))
                node = facts[-1].object
                seen.add(node)
            if len(facts) == length:
                return tuple(facts)
        raise NoSampleError("the subject has no facts that are irrelevant for sure")

    def _irrelevant_facts(self, node: str, excluded: Set[str], grounding: Grounding) -> list[Fact]:
        """True facts about an entity that a person may ask for, each leading to an entity with a name.

        Their relations are not related to those of the query.
        """
        kinds = self._values.classes(node)
        barred = frozenset[str]().union(*map(related_properties, grounding.query.properties))
        targets = [
            (statement.property, statement.target)
            for statement in self._statements(node)
            if statement.target is not None
            and statement.target.startswith("Q")
            and statement.rank != "deprecated"
            and statement.property not in barred
            and "question" in wording_templates(statement.property)
            and wording_templates(statement.property).get("unlike") not in kinds
            and statement.target not in excluded
        ][:_MOST_STATEMENTS]
        self._facts.fetch(target for _, target in targets)
        named = dict.fromkeys(pair for pair in targets if english_label(self._facts.entity(pair[1])) is not None)
        return [Fact(node, prop, target) for prop, target in named]


def _replace_subject_and_object(fact: Fact, replacements: Mapping[str, str]) -> Fact:
    """The fact with the entities of `replacements` in the place of its subject and object."""
    ends = (replacements.get(end, end) for end in (fact.subject, fact.object))
    return Fact(next(ends), fact.property, next(ends), fact.qualifier)


def unique_facts(groups: FactsByBranch | Sequence[Sequence[Fact]]) -> tuple[Fact, ...]:
    """All facts of the branches, without repeats."""
    return tuple(dict.fromkeys(fact for group in groups for fact in group))


def reason_unproven(category: Category, truth: Grounding, evidence: FactsByBranch, facts: StoreFacts) -> str | None:
    """Return the reason why the evidence does not prove a category; None where it does.

    `truth`: the grounding of the query in the whole graph. Supportive: the evidence yields exactly the answers, and
    all of it is true. Partially supportive: it yields fewer answers, contains a needed fact, and is true.
    Contradictory: it yields another answer and none of the replaced ones, and a fact missing from the graph is false
    at any rank or time. Irrelevant: it yields no answer, is true, and shares no fact with the subgraph.
    """
    cited, needed, answers = set(unique_facts(evidence)), set(truth.facts()), set(truth.answers)
    # The query runs on the cited facts alone: its answers are those that a reader of the citations can conclude.
    given_answers = set(ground(truth.query, FactList(sorted(cited, key=str))).answers)
    if not cited:
        return "no evidence is left"
    false = {fact for fact in cited if not is_true(fact, facts)}
    if category is Category.CONTRADICTORY:
        if not given_answers - answers:
            return "the edited facts give no other answer"
        # True facts with another answer extend the answers; they contradict nothing.
        if not false:
            return "the edited facts are true"
        kept = given_answers & answers
        # In a union the edit replaces one answer only.
        if truth.query.shape is Shape.UNION:
            return "all answers are given still" if kept == answers else None
        return "an answer is given still" if kept else None
    if false:
        return "evidence that is not in the graph"
    if category is Category.SUPPORTIVE:
        return None if given_answers == answers else "the evidence gives other answers"
    if category is Category.PARTIAL:
        if not given_answers < answers:
            return "the rest gives all the answers still"
        return None if cited & needed else "no needed fact is left"
    if given_answers:
        return "irrelevant facts give an answer"
    return "an irrelevant fact is needed" if cited & needed else None


def is_true(fact: Fact, facts: StoreFacts) -> bool:
    """Whether the graph contains a fact, at any rank and time."""
    return facts.has_fact(fact.subject, Hop(property=fact.property, qualifier=fact.qualifier), fact.object)


_SIMPLE = re.compile(r"(Q[1-9][0-9]*)\t([PR])([1-9][0-9]*)\t(Q[1-9][0-9]*)\t([^\t]*\S)\s*\Z")
_ENTITY = re.compile(r"http://www\.wikidata\.org/entity/(Q[1-9][0-9]*)\Z")
_QUESTION = ("natural_question", "question", "question_eng", "paraphrased_question", "NNQT_question")
DAMAGED = "damaged row"  # the reason that makes the command fail
_MINED_SHARES = {Shape.SINGLE: 16, Shape.PATH: 10, Shape.TREE: 4, Shape.UNION: 2}  # queries by shape, of every 32
HUB = 500  # a value that more entities share is not used in an extension: "is human" identifies nothing
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
        for place, row in _rows_with_positions(path):
            try:
                query = _sourced_query(path.name.split(".")[0], place, row)
                # Ids of samples derive from it, so it must be unique.
                if query.id in seen:
                    raise QueryShapeError(f"an earlier row has the id {query.id!r}", reason="id twice")
            except (QueryShapeError, SampleError) as error:
                reason = error.reason if isinstance(error, QueryShapeError) else DAMAGED
                reasons[reason] += 1
                on_reject(
                    RejectedRow(source=f"{path}:{place}", reason=f"{reason}: {error}", excerpt=excerpt(repr(row)))
                )
                continue
            seen.add(query.id)
            yield query


def _rows_with_positions(path: Path) -> Iterator[tuple[str, object]]:
    """The rows of a file with their positions; a damaged row is yielded as its error message or its text."""
    with open_for_reading(path) as stream:
        # Peeking leaves the stream at its beginning for the reader of the format.
        head = stream.peek(4096)[:4096]  # type: ignore[attr-defined]
        if b"\t" in head.split(b"\n", 1)[0] and not head.lstrip().startswith((b"{", b"[")):
            yield from ((str(at), _simple_questions_row_or_line(line)) for at, line in enumerate(stream, 1))
            return
    for record in read_records(path):
        row: Any = record.reason if isinstance(record, RejectedRow) else record.data
        # QALD: one object with a list of rows, and perhaps one about the set.
        if isinstance(row, Mapping) and isinstance(rows := row.get("questions"), list):
            yield from ((str(at), one) for at, one in enumerate(rows, 1))
        else:
            yield record.source.removeprefix(str(path)).strip(":[]"), row


def _simple_questions_row_or_line(line: bytes) -> object:
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
        raise SampleError(
            "expected a JSON object, or a line of subject, property, object and question separated by tabs"
        )
    number = row.get("id", row.get("uid", place))
    question = next((row[name] for name in _QUESTION if row.get(name)), None)
    # In QALD the question is a list of texts, one for each language.
    if isinstance(question, list):
        english = (one for one in question if isinstance(one, Mapping) and one.get("language") == "en")
        question = next(english, {}).get("string")
    lists = [row[field] for field in ("answer_qids", "ans_id", "answers") if isinstance(row.get(field), list)]
    return SourcedQuery(
        id="-".join(str(one) for one in (name, row.get("split"), number) if one is not None),
        query=_logical_query(row),
        source=name,
        question=question.strip() or None if isinstance(question, str) else None,
        gold=tuple(dict.fromkeys(found for one in lists for answer in one for found in _entity_ids_in_answer(answer))),
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


def _entity_ids_in_answer(answer: object) -> Iterator[str]:
    """Ids of the entities in an answer, which is an id, an RDF value, or result bindings in the JSON of SPARQL."""
    if isinstance(answer, str):
        yield from (answer,) if ENTITY_ID.match(answer) else ()
    elif isinstance(answer, Mapping):
        if match := _ENTITY.match(str(answer.get("value"))):
            yield match[1]
        results = answer.get("results")
        bindings = results.get("bindings") if isinstance(results, Mapping) else None
        for one in (one for one in bindings or () if isinstance(one, Mapping)):
            yield from (found for value in one.values() for found in _entity_ids_in_answer(value))


def mined_queries(facts: StoreFacts, number: int, *, seed: int = 0) -> Iterator[SourcedQuery]:
    """About `number` queries mined from a store, by relations that a person would ask for."""
    shares = _MINED_SHARES.items()
    settings = MiningSettings(
        counts={shape: number * share // sum(_MINED_SHARES.values()) for shape, share in shares},
        seed=seed,
        only=frozenset(properties_with_question()),
        follows=follow_up_relations(),
        meets=relations_sharing_answers(),
    )
    for place, query in enumerate(MinedQueries(facts, settings), 1):
        yield SourcedQuery(id=f"mined-{place}", query=query, source="mined")


class Extension(StrEnum):
    """How a query is extended: by namesakes of its start entity, or by a triple at its head or at its answer."""

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
        """Draw an extension. Return its kind, and the extended query, not yet grounded; None if the extension is
        impossible.
        """
        option = drawing.choice(_OPTIONS[grounding.query.shape])
        if option is Extension.UNION:
            return option, self._union_with_namesakes(grounding.query)
        if option is Extension.HEAD:
            return option, self._add_triple_at_head(grounding, drawing)
        return option, self._add_triple_at_answer(grounding, drawing) if option is Extension.ANSWER else None

    def _union_with_namesakes(self, query: LogicalQuery) -> LogicalQuery | None:
        branch = query.branches[0]
        hop = branch.hops[0]
        if not hop.forward:
            return None
        others = namesakes(self._facts, [branch.start]).get(branch.start, [])
        same = [entity_id for entity_id in others if self._facts.targets(entity_id, hop)]
        branches = (branch, *(Branch(start=entity_id, hops=branch.hops) for entity_id in same))
        return LogicalQuery(branches=branches, union=True) if same else None

    def _add_triple_at_head(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        """Replace a start entity by another from which one relation leads to it alone: "the spouse of Anna Scott".

        Only for branches with a single hop: "the star of the work that another is based on" is not a natural question.
        """
        branches = grounding.query.branches
        at = drawing.randrange(len(branches))
        branch = branches[at]
        if len(branch.hops) > 1:
            return None
        relations = {one for one, asked in follow_up_relations().items() if branch.hops[0].property in asked}
        edge = self._draw_edge_to(branch.start, grounding, drawing, relations - grounding.query.properties)
        # "The child of X" is ambiguous if X has several.
        if edge is None or len(self._facts.targets(*edge)) > 1:
            return None
        longer = Branch(start=edge[0], hops=(edge[1], *branch.hops))
        return LogicalQuery(branches=(*branches[:at], longer, *branches[at + 1 :]))

    def _add_triple_at_answer(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        """Add a triple that enters an answer, by a relation that is asked for together with those of the query."""
        answer, branches = drawing.choice(grounding.answers), grounding.query.branches
        together = [set(relations_sharing_answers().get(branch.hops[-1].property, ())) for branch in branches]
        edge = self._draw_edge_to(answer, grounding, drawing, set.intersection(*together))
        return LogicalQuery(branches=(*branches, Branch(start=edge[0], hops=(edge[1],)))) if edge else None

    def _draw_edge_to(
        self, target: str, grounding: Grounding, drawing: random.Random, relations: Set[str]
    ) -> tuple[str, Hop] | None:
        """Draw an entity outside the query that leads to `target` by one of the relations, and that relation; None
        without any.
        """
        pairs = [(prop, target) for prop in self._values.plausible_relations_to(target) if prop in relations]
        counts = self._facts.store.value_counts(pairs)
        # Subjects are counted before they are listed: listing those of a hub is expensive.
        few = [pair for pair in pairs if 0 < counts.get(pair, 0) <= HUB]
        drawing.shuffle(few)
        used_ids = grounding.entities
        # Without a name an entity cannot be asked for; with a name of the query it is confused with its entities.
        barred = {None, *(english_label(self._facts.entity(entity_id)) for entity_id in used_ids)}
        for pair in few[:_TRIED]:
            carriers = self._facts.store.referrers([pair], limit=HUB).get(pair, [])
            self._facts.fetch(carriers)
            others = [one for one in carriers if one.startswith("Q") and one not in used_ids]
            if named := [one for one in others if english_label(self._facts.entity(one)) not in barred]:
                return drawing.choice(named), Hop(property=pair[0])
        return None
