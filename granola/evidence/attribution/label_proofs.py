"""Proofs of labels: the query is run on the facts of a sample and on the whole graph.

The paper asserts its labels; here a sample without a proof is dropped and counted by reason.
"""

from __future__ import annotations

from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.evidence_edits import Groups, facts_of
from kg.graph import Fact, FactList, Grounding, Hop, Shape, StoreFacts, ground


def why_unproven(category: Category, truth: Grounding, evidence: Groups, facts: StoreFacts) -> str | None:
    """Return why a category is not proved for some evidence; None where it is.

    `truth`: the grounding of the query in the whole graph. Supportive: the evidence yields exactly the answers, and
    all of it is true. Partially supportive: it yields fewer answers, contains a needed fact, and is true.
    Contradictory: it yields another answer and none of the replaced ones, and a fact missing from the graph is false
    at any rank or time. Irrelevant: it yields no answer, is true, and shares no fact with the subgraph.
    """
    cited = set(facts_of(evidence))
    needed = set(truth.facts())
    answers = set(truth.answers)
    # The query runs on the cited facts alone: what a reader of the citations can conclude.
    given_answers = set(ground(truth.query, FactList(sorted(cited, key=str))).answers)
    if not cited:
        return "no evidence is left"
    false = {fact for fact in cited if not is_true(fact, facts)}
    if category is Category.CONTRADICTORY:
        return _why_no_contradiction(given_answers, answers, false, truth)
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


def _why_no_contradiction(given_answers: set[str], answers: set[str], false: set[Fact], truth: Grounding) -> str | None:
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


def is_true(fact: Fact, facts: StoreFacts) -> bool:
    """Whether the graph contains a fact, at any rank and time."""
    return facts.holds(fact.subject, Hop(property=fact.property, qualifier=fact.qualifier), fact.object)
