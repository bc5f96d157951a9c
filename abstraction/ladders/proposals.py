"""Input and output of ladder builders: cases and proposals, and the entities that statements point to.

A builder proposes tiers as nodes of a small graph: each names the finer proposals that entail it. The pipeline
filters, merges aliases and turns the graph into levels (`abstraction.ladders.assembly.levels`), so that a builder need
not consider which tiers are trivial for a relation or already in the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

from abstraction.base.relations import Relation
from abstraction.base.tiers import Condition, Evidence, from_statement
from abstraction.linking.gazetteer import Gazetteer
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.phrases import indefinite
from kg.base.model import Statement, TimeValue
from kg.graph.graph import Graph

Source = TypeVar("Source")
Others = TypeVarTuple("Others")
Result = TypeVar("Result")


def kept_with_source(function: Callable[[Source, *Others], Result]) -> Callable[[Source, *Others], Result]:
    """Cache the results of a function by its other arguments, as long as its first argument lives, usually a graph."""
    memory: WeakKeyDictionary[Source, dict[tuple[Any, ...], Result]] = WeakKeyDictionary()

    @wraps(function)
    def result_kept_with_source(source: Source, *others: *Others) -> Result:
        known = memory.setdefault(source, {})
        if others not in known:
            known[others] = function(source, *others)
        return known[others]

    return result_kept_with_source


ANSWER = ""  # key of the root: the answer itself


@dataclass(frozen=True, kw_only=True, slots=True)
class LadderCase:
    """One answer to abstract, with all information from its question.

    `answer` and `subject` are ids of the snapshot; `at` is the date of the question (the subject's birth for a
    birthplace, say), None where the graph has no date or the relation needs none. Builders add to `doubted` ids that
    statements lead to but that do not surely follow from the answer: one of several places, a place that is no larger
    than a finer one, the state that governs a territory.
    """

    graph: Graph
    vocabulary: Vocabulary
    gazetteer: Gazetteer
    answer: str
    relation: Relation
    question: str = ""
    subject: str | None = None
    subject_text: str | None = None
    at: TimeValue | None = None
    doubted: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A tier before filtering.

    `key` is unique within the case: a QID for entities, the text for phrases. `parents` are keys of finer proposals
    (or ANSWER), each of which entails this one on its own. Within a level tiers are sorted by `order`, then by text.
    `language` is set where the text is in another language than the ladder.
    """

    key: str
    text: str
    parents: tuple[str, ...] = (ANSWER,)
    qid: str | None = None
    aliases: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conditions: frozenset[Condition] = frozenset()
    order: int = 0
    language: str | None = None


# Proposes the tiers of one answer class, in any order; an empty list where the graph has no usable facts.
Builder = Callable[[LadderCase], list[Proposal]]


def states(prop: str, value: str) -> frozenset[Condition]:
    """The condition that a property of the answer has this value; for "text", that the words describe it."""
    return frozenset({Condition(property=prop, value=value)})


@dataclass(frozen=True, slots=True)
class NamedValue:
    """The entity that a statement points to, with its label."""

    graph: Graph
    statement: Statement
    qid: str
    label: str

    @property
    def evidence(self) -> Evidence:
        """The statement as evidence."""
        return from_statement(self.graph, self.statement)

    @property
    def conditions(self) -> frozenset[Condition]:
        """The value of the statement as conditions of a tier."""
        return states(self.statement.property, self.qid)


def named_values(graph: Graph, statements: Iterable[Statement]) -> list[NamedValue]:
    """The values of statements that are entities with a label, in their order."""
    return [
        NamedValue(graph, statement, statement.target, label)
        for statement in statements
        if statement.target and (label := graph.label(statement.target))
    ]


def current_values(graph: Graph, entity_id: str, prop: str) -> list[NamedValue]:
    """The present values of a property that are entities with a label."""
    return named_values(graph, graph.current(entity_id, prop))


def entity_proposal(
    graph: Graph,
    qid: str,
    label: str,
    evidence: tuple[Evidence, ...],
    conditions: frozenset[Condition],
    *,
    parents: tuple[str, ...] = (ANSWER,),
    order: int = 0,
) -> Proposal:
    """The tier that names an entity: its label as the text, its other names as aliases."""
    return Proposal(
        key=qid,
        text=label,
        parents=parents,
        qid=qid,
        aliases=tuple(name for name in graph.names(qid) if name != label),
        evidence=evidence,
        conditions=conditions,
        order=order,
    )


def phrase_proposal(
    phrase: str, evidence: tuple[Evidence, ...], conditions: frozenset[Condition], *, aliases: tuple[str, ...] = ()
) -> Proposal:
    """The tier "a PHRASE"."""
    text = indefinite(phrase)
    return Proposal(key=text, text=text, aliases=aliases, evidence=evidence, conditions=conditions)
