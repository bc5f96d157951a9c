"""The answers of a query, and the facts that lead to each: over any source of facts, layer by layer."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from kg.base.model import entity_number
from kg.errors import GroundingError
from kg.graph.logical_query import Branch, Hop, LogicalQuery


@dataclass(frozen=True, slots=True)
class Fact:
    """One triple; with `qualifier` its object is that qualifier's value of a statement of `property`."""

    subject: str
    property: str
    object: str
    qualifier: str | None = None

    @builtins.property  # `property` is a field here
    def relation(self) -> str:
        """The property that relates the object: the qualifier where there is one, else the main property."""
        return self.qualifier or self.property


class FactSource(Protocol):
    """A source of facts, read in batches."""

    def fetch(self, ids: Iterable[str]) -> None:
        """Read what forward hops from these nodes need, in one round trip."""

    def ahead(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """The nodes that a hop leads to from each node, in a fixed order; nodes without any may be absent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounding:
    """The answers of a query, by id number, and for each the facts of one way to it, branch by branch.

    `ways[answer]` has a tuple of facts for each branch, in the order of its hops; for a union an empty one where the
    branch does not lead to the answer.
    """

    query: LogicalQuery
    answers: tuple[str, ...]
    ways: Mapping[str, tuple[tuple[Fact, ...], ...]] = field(default_factory=dict)

    @builtins.property
    def entities(self) -> frozenset[str]:
        """The entities of all facts, and those that the query names."""
        return self.query.named_entities.union(*((fact.subject, fact.object) for fact in self.facts()))

    def facts(self) -> tuple[Fact, ...]:
        """All facts of all ways, without repeats, in order."""
        return tuple(dict.fromkeys(fact for answer in self.answers for way in self.ways[answer] for fact in way))


class FactList:
    """Facts in memory as a source; all other facts count as false."""

    def __init__(self, facts: Collection[Fact]) -> None:
        self._ahead: dict[tuple[str, str, str | None], list[str]] = {}
        self._back: dict[tuple[str, str], list[str]] = {}
        for fact in facts:
            self._ahead.setdefault((fact.subject, fact.property, fact.qualifier), []).append(fact.object)
            if fact.qualifier is None:
                self._back.setdefault((fact.object, fact.property), []).append(fact.subject)

    def fetch(self, ids: Iterable[str]) -> None:
        """See `FactSource.fetch`; does nothing, for all facts are in memory."""

    def ahead(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """See `FactSource.ahead`."""
        if hop.forward:
            return {node: self._ahead.get((node, hop.property, hop.qualifier), ()) for node in nodes}
        return {node: self._back.get((node, hop.property), ()) for node in nodes}


MOST = 1_000  # nodes of a layer
_BATCH = 256  # queries grounded together

Layers = list[dict[str, str]]  # for each hop: node reached -> the node before it that was found first


def ground(query: LogicalQuery, source: FactSource) -> Grounding:
    """The answers by a source of facts. Raises GroundingError where a layer has more than MOST nodes."""
    ((_, found),) = ground_all([query], source)
    if isinstance(found, GroundingError):
        raise found
    return found


def ground_all(
    queries: Iterable[LogicalQuery], source: FactSource
) -> Iterator[tuple[LogicalQuery, Grounding | GroundingError]]:
    """Each query with its grounding, or why it has none, in order; a batch costs one round trip a hop."""
    coming = iter(queries)
    while batch := list(islice(coming, _BATCH)):
        yield from zip(batch, _ground_batch(batch, source), strict=True)


def _ground_batch(queries: Sequence[LogicalQuery], source: FactSource) -> list[Grounding | GroundingError]:
    layers_of: list[list[Layers]] = [[[] for _ in query.branches] for query in queries]
    failed: dict[int, GroundingError] = {}
    for place in range(max(len(branch.hops) for query in queries for branch in query.branches)):
        walking = [
            (number, branch, layers, layers[-1] if layers else {branch.start: ""})
            for number, query in enumerate(queries)
            for branch, layers in zip(query.branches, layers_of[number], strict=True)
            if number not in failed and place < len(branch.hops)
        ]
        starts: dict[Hop, dict[str, str]] = {}
        for _, branch, _, nodes in walking:
            starts.setdefault(branch.hops[place], {}).update(nodes)
        source.fetch(node for hop, nodes in starts.items() if hop.forward for node in nodes)
        ahead = {hop: source.ahead(nodes, hop) for hop, nodes in starts.items()}
        for number, branch, layers, nodes in walking:
            try:
                layers.append(_next_layer(branch, place, nodes, ahead[branch.hops[place]]))
            except GroundingError as error:
                failed[number] = error
    return [failed.get(number) or _join_branches(query, layers_of[number]) for number, query in enumerate(queries)]


def _next_layer(
    branch: Branch, place: int, nodes: Collection[str], reached_from: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Nodes after the hop number `place`, each with the one before it. Raises GroundingError for too many."""
    required = branch.via[place] if place < len(branch.via) else None
    layer: dict[str, str] = {}
    for node in nodes:
        for reached in reached_from.get(node, ()):
            if required is None or reached == required:
                layer.setdefault(reached, node)
    if len(layer) > MOST:
        raise GroundingError(f"{branch.hops[place].property} leads to {len(layer):,} entities; allowed are {MOST:,}")
    return layer


def _join_branches(query: LogicalQuery, layers: Sequence[Layers]) -> Grounding:
    """The answers that branches lead to, together, and one way to each."""
    ends = [branch[-1] for branch in layers]
    reached = {one for end in ends for one in end} if query.union else set(ends[0]).intersection(*ends[1:])
    # Entities named in the query are no answers to it: they would give the answer away.
    answers = tuple(sorted(reached - query.named_entities, key=lambda one: (one[0], entity_number(one))))
    ways = {
        answer: tuple(
            _way(branch, found, answer) if answer in found[-1] else ()
            for branch, found in zip(query.branches, layers, strict=True)
        )
        for answer in answers
    }
    return Grounding(query=query, answers=answers, ways=ways)


def _way(branch: Branch, layers: Layers, answer: str) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    node = answer
    for hop, layer in zip(reversed(branch.hops), reversed(layers), strict=True):
        before = layer[node]
        facts.append(fact_of(before, hop, node))
        node = before
    return tuple(reversed(facts))


def fact_of(before: str, hop: Hop, after: str) -> Fact:
    """The fact that corresponds to a hop from one node to the next."""
    if hop.forward:
        return Fact(before, hop.property, after, hop.qualifier)
    return Fact(after, hop.property, before)
