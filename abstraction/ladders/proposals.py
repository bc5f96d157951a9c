"""The input and output of ladder builders (cases and proposals), and the graph of proposals: its order and its levels.

A builder proposes tiers as nodes of a directed acyclic graph from fine to coarse: each names the finer proposals that
entail it. Filters and the merging of aliases come later, so that a builder need not consider which tiers are trivial
for a relation or already in the question. A removed proposal passes its parents and its evidence on to its children,
so that a reader can still follow each step. The level of a proposal is one more than the coarsest level of its
parents, so that every tier has a parent in the level just before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from graphlib import TopologicalSorter
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

from abstraction.base.relations import Relation
from abstraction.base.tiers import (
    MAX_LEVELS,
    MAX_TIERS,
    Condition,
    Evidence,
    Level,
    Tier,
    from_statement,
    join_evidence,
    leads_to,
)
from abstraction.linking.gazetteer import Gazetteer
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.phrases import ARTICLE, indefinite, shortening_changes_meaning
from kg.base.model import Statement, TimeValue, normalise
from kg.graph.graph import Graph

Source = TypeVar("Source")
Others = TypeVarTuple("Others")
Result = TypeVar("Result")


def cached_per_source(function: Callable[[Source, *Others], Result]) -> Callable[[Source, *Others], Result]:
    """Cache the results of a function by its other arguments while its first argument (mostly a graph) is in memory."""
    memory: WeakKeyDictionary[Source, dict[tuple[Any, ...], Result]] = WeakKeyDictionary()

    @wraps(function)
    def cached_result(source: Source, *others: *Others) -> Result:
        known = memory.setdefault(source, {})
        if others not in known:
            known[others] = function(source, *others)
        return known[others]

    return cached_result


ANSWER = ""  # key of the root: the answer itself


@dataclass(frozen=True, kw_only=True, slots=True)
class LadderCase:
    """One answer to make a ladder for, with all information from its question.

    `answer` and `subject` are ids of the snapshot; `at` is the date of the question (for a birthplace the subject's
    birth), None where the graph has no date or the relation needs none. Builders add to `doubted` the ids that
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

    @property
    def description(self) -> str:
        """The description of the answer; "" for none."""
        return self.graph.description(self.answer) or ""


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


def one_condition(prop: str, value: str) -> frozenset[Condition]:
    """The one condition that a property of the answer has this value; for "text", that these words describe the
    answer.
    """
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
        return one_condition(self.statement.property, self.qid)


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


NamedStep = tuple[str, Evidence, frozenset[Condition]]  # the id of an entity, the evidence for it, the conditions


def entities_above_answer(
    case: LadderCase, entities_one_step_above: Callable[[str], Iterable[NamedStep]], *, steps: int
) -> dict[str, Proposal]:
    """Entities reached in at most `steps` steps up from the answer, as proposals by id; each once, never the answer
    itself.

    `entities_one_step_above` returns for an id the entities one step higher.
    """
    out: dict[str, Proposal] = {}
    layer = [(case.answer, ANSWER)]
    for step in range(steps):
        upward: list[tuple[str, str]] = []
        for child, key in layer:
            for qid, evidence, conditions in entities_one_step_above(child):
                label = case.graph.label(qid)
                if label is not None and qid != case.answer and qid not in out:
                    tier = entity_proposal(case.graph, qid, label, (evidence,), conditions, parents=(key,))
                    out[qid] = replace(tier, order=step - steps)
                    upward.append((qid, qid))
        layer = upward
    return out


def phrase_proposal(
    phrase: str, evidence: tuple[Evidence, ...], conditions: frozenset[Condition], *, aliases: tuple[str, ...] = ()
) -> Proposal:
    """The tier "a PHRASE"."""
    text = indefinite(phrase)
    return Proposal(key=text, text=text, aliases=aliases, evidence=evidence, conditions=conditions)


ProposalGraph = dict[str, Proposal]


def as_graph(proposals: Iterable[Proposal]) -> ProposalGraph:
    """Proposals by key; proposals with the same key are joined. Parents that do not exist are dropped."""
    nodes: ProposalGraph = {}
    for proposal in proposals:
        old = nodes.get(proposal.key)
        if old is None:
            nodes[proposal.key] = proposal
        else:
            parents = tuple(dict.fromkeys((*old.parents, *proposal.parents)))
            aliases = tuple(dict.fromkeys((*old.aliases, *proposal.aliases)))
            nodes[proposal.key] = replace(old, parents=parents, aliases=aliases)
    for key, node in nodes.items():
        parents = tuple(p for p in node.parents if p == ANSWER or (p in nodes and p != key))
        nodes[key] = replace(node, parents=parents or (ANSWER,))
    return _without_cycles(nodes)


def _without_cycles(nodes: ProposalGraph) -> ProposalGraph:
    """The graph without the edges that close a cycle: those to the parents of the last key of each."""
    for key in sorted(nodes, reverse=True):  # sorted: the same cycle is always cut at the same place
        if key in ancestors(nodes, key):
            left = (p for p in nodes[key].parents if p != key and (p == ANSWER or key not in ancestors(nodes, p)))
            nodes = {**nodes, key: replace(nodes[key], parents=tuple(left) or (ANSWER,))}
    return nodes


def remove(nodes: ProposalGraph, unwanted: Callable[[Proposal], bool]) -> ProposalGraph:
    """The graph without the unwanted proposals; their parents entail their children."""
    for key in [k for k, node in nodes.items() if unwanted(node)]:
        nodes = _remove_and_bridge(nodes, key)
    return nodes


def _remove_and_bridge(nodes: ProposalGraph, key: str) -> ProposalGraph:
    removed = nodes[key]
    out: ProposalGraph = {}
    for other, node in nodes.items():
        if other == key:
            continue
        if key in node.parents:
            parents = dict.fromkeys(
                p for parent in node.parents for p in (removed.parents if parent == key else (parent,))
            )
            evidence = node.evidence
            starts_here = removed.qid is not None and any(e.subject == removed.qid for e in evidence)
            starts_here = starts_here or any(leads_to(step, e) for step in removed.evidence for e in evidence)
            # The evidence of a child may start from the removed entity, which no tier then leads to.
            if node.parents == (key,) or starts_here:
                evidence = (*removed.evidence, *(e for e in evidence if e not in removed.evidence))
            node = replace(node, parents=tuple(parents), evidence=evidence)
        out[other] = node
    return out


def merge(nodes: ProposalGraph, key: str, into: str) -> ProposalGraph:
    """The graph with proposal `key` merged into the finer or equal proposal `into`."""
    removed, finer = nodes[key], nodes[into]
    # Nothing is taken over from a namesake except the common name.
    shared = removed.qid is None or finer.qid is None or removed.qid == finer.qid
    names = [n for n in (removed.text, *removed.aliases) if shared and normalise(n) != normalise(finer.text)]
    merged: ProposalGraph = {}
    for other, node in nodes.items():
        if other == key:
            continue
        if key in node.parents:
            parents = dict.fromkeys(into if p == key else p for p in node.parents)
            node = replace(node, parents=tuple(p for p in parents if p != other) or (ANSWER,))
        merged[other] = node
    evidence = finer.evidence
    if removed.qid is not None and removed.qid != finer.qid:  # evidence of coarser tiers starts from the namesake
        evidence = join_evidence((evidence, removed.evidence))
    aliases = tuple(dict.fromkeys((*finer.aliases, *names)))
    merged[into] = replace(merged[into], aliases=aliases, evidence=evidence)
    return _without_cycles(merged)


# Properties whose value is a class: a member of a class is a member of every class above it.
_OF_CLASS = frozenset({"P31", "P106", "P136", "P39", "P97", "P407", "P413", "P641", "P279", "P171"})


def order_by_conditions(nodes: ProposalGraph, classes_above: Callable[[str], Collection[str]]) -> ProposalGraph:
    """The graph ordered by conditions: a tier that follows from another becomes its child.

    `classes_above` returns the classes that a class entails. Builders order their phrases themselves; this adds the
    order that only the graph knows (a rock singer is a musician).
    """
    stated = {key: node.conditions for key, node in nodes.items() if node.conditions}
    entailed = {
        key: conditions.union(
            replace(c, value=wider) for c in conditions if c.property in _OF_CLASS for wider in classes_above(c.value)
        )
        for key, conditions in stated.items()
    }
    for fine in sorted(stated):
        for coarse in sorted(stated):
            if fine == coarse or fine not in nodes or coarse not in nodes or not stated[coarse] <= entailed[fine]:
                continue
            if coarse in ancestors(nodes, fine) or fine in ancestors(nodes, coarse):
                continue
            if not stated[fine] <= entailed[coarse]:  # two tiers that entail each other stay side by side
                node = nodes[coarse]
                nodes = {**nodes, coarse: replace(node, parents=(*node.parents, fine))}
    return nodes


def entails_by_words(fine: str, coarse: str) -> bool:
    """Whether one phrase entails the other by its words: "an American actor" and "an actor", "a city in Ohio" and "a
    city".
    """
    longer, shorter = ARTICLE.sub("", normalise(fine)), ARTICLE.sub("", normalise(coarse))
    if longer == shorter or not ARTICLE.match(coarse) or not ARTICLE.match(fine):
        return False
    if longer.startswith((f"{shorter} in ", f"{shorter} by ", f"{shorter} of ", f"{shorter} given ")):
        return True
    return longer.endswith(f" {shorter}") and not shortening_changes_meaning(longer, shorter)


def order_by_words(nodes: ProposalGraph) -> ProposalGraph:
    """The graph with each phrase as a child of the phrases that entail it by their words."""
    phrases = [key for key, node in nodes.items() if node.qid is None and ARTICLE.match(node.text)]
    for fine in phrases:
        for coarse in phrases:
            if fine == coarse or not entails_by_words(nodes[fine].text, nodes[coarse].text):
                continue
            if coarse not in ancestors(nodes, fine) and fine not in ancestors(nodes, coarse):
                nodes = {**nodes, coarse: replace(nodes[coarse], parents=(*nodes[coarse].parents, fine))}
    return nodes


def depths(nodes: ProposalGraph) -> dict[str, int]:
    """Level of every proposal, 1 for the finest: one more than the coarsest parent's. Needs an acyclic graph."""
    known: dict[str, int] = {ANSWER: 0}
    for key in TopologicalSorter({key: node.parents for key, node in nodes.items()}).static_order():
        if key != ANSWER:
            known[key] = 1 + max((known[parent] for parent in nodes[key].parents), default=0)
    return {key: known[key] for key in nodes}


def levels(nodes: ProposalGraph) -> tuple[Level, ...]:
    """The levels beyond the answer, finest first, at most MAX_LEVELS levels of MAX_TIERS tiers.

    Where there are more, the three finest and the two coarsest are kept.
    """
    ranked: dict[int, list[Proposal]] = {}
    for key, depth in depths(nodes).items():
        ranked.setdefault(depth, []).append(nodes[key])
    chosen = sorted(ranked)
    if len(chosen) > MAX_LEVELS:
        chosen = chosen[: MAX_LEVELS - 2] + chosen[-2:]
    out = []
    previous: set[str] | None = None
    for depth in chosen:
        members = sorted(ranked[depth], key=lambda p: (p.order, normalise(p.text), p.key))
        if previous is not None:
            # After a cap a tier is kept only if a tier of the level before still leads to it.
            members = [m for m in members if previous & ancestors(nodes, m.key)]
        members = members[:MAX_TIERS]
        if not members:
            continue
        previous = {m.key for m in members}
        tiers = (
            Tier(
                text=m.text, qid=m.qid, aliases=other_names(m.text, m.aliases), evidence=m.evidence,
                conditions=m.conditions, language=m.language,
            )
            for m in members
        )  # fmt: skip
        out.append(Level(tiers=tuple(tiers)))
    return tuple(out)


def ancestors(nodes: ProposalGraph, key: str) -> set[str]:
    """Keys of all finer proposals that lead to `key`."""
    return reachable([key], lambda child: (parent for parent in nodes[child].parents if parent != ANSWER))


def reachable(start: Iterable[str], onward: Callable[[str], Iterable[str]]) -> set[str]:
    """All keys that one or more steps from the start lead to."""
    seen: set[str] = set()
    stack = list(start)
    while stack:
        for key in onward(stack.pop()):
            if key not in seen:
                seen.add(key)
                stack.append(key)
    return seen


def other_names(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names without repeats and without the text itself."""
    by_key = {normalise(name): name for name in reversed(names)}
    return tuple(name for key, name in reversed(by_key.items()) if key not in ("", normalise(text)))
