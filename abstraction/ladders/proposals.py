"""Input and output of ladder builders: cases and proposals.

A builder proposes tiers as nodes of a small graph: each names the finer proposals that entail it. The pipeline
filters, merges aliases and turns the graph into levels (`abstraction.ladders.assembly.levels`), so that a builder need
not consider which tiers are trivial for a relation or already in the question.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from abstraction.base.relations import Relation
from abstraction.base.tiers import Condition, Evidence
from abstraction.linking.gazetteer import Gazetteer
from abstraction.text.descriptions.attested_words import Vocabulary
from kg.base.model import TimeValue
from kg.graph.graph import Graph

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


class Builder(Protocol):
    """Proposes the tiers of one answer class; an empty list where the graph has no usable facts."""

    def __call__(self, case: LadderCase) -> list[Proposal]:
        """Proposals in any order; cycles among parents are a defect of the builder."""
        ...
