"""What a query's answers are, and the facts that lead to each: over any source of facts, layer by layer."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kg.errors import GroundingError
from kg.model import entity_number
from kg.queries.logical_query import Branch, Hop, LogicalQuery


@dataclass(frozen=True, slots=True)
class Fact:
    """One triple; with `qualifier` its object is that qualifier's value of a statement of `property`."""

    subject: str
    property: str
    object: str
    qualifier: str | None = None

    @builtins.property  # `property` is a field here
    def relation(self) -> str:
        """What tells the object's part: the qualifier where there is one, else the property."""
        return self.qualifier or self.property


class FactSource(Protocol):
    """Where facts are looked up, many at a time."""

    def ahead(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """For each node those that a hop leads to, in a fixed order; nodes without any may be absent."""


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
        """Those of all facts, and those that the query names."""
        return self.query.given.union(*((fact.subject, fact.object) for fact in self.facts()))

    def facts(self) -> tuple[Fact, ...]:
        """All facts of all ways, without repeats, in order."""
        return tuple(dict.fromkeys(fact for answer in self.answers for way in self.ways[answer] for fact in way))


class FactList:
    """Facts in memory as a source: what is not among them is not true."""

    def __init__(self, facts: Collection[Fact]) -> None:
        self._ahead: dict[tuple[str, str, str | None], list[str]] = {}
        self._back: dict[tuple[str, str], list[str]] = {}
        for fact in facts:
            self._ahead.setdefault((fact.subject, fact.property, fact.qualifier), []).append(fact.object)
            if fact.qualifier is None:
                self._back.setdefault((fact.object, fact.property), []).append(fact.subject)

    def ahead(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """As `FactSource.ahead`."""
        if hop.forward:
            return {node: self._ahead.get((node, hop.property, hop.qualifier), ()) for node in nodes}
        return {node: self._back.get((node, hop.property), ()) for node in nodes}


MOST = 1_000  # nodes of a layer


def ground(query: LogicalQuery, source: FactSource) -> Grounding:
    """The answers by a source of facts. Raises GroundingError where a layer has more than MOST nodes."""
    return combined(query, [_layers(branch, source) for branch in query.branches])


Layers = list[dict[str, str]]  # of each hop: node reached -> the node before it that was found first


def _layers(branch: Branch, source: FactSource) -> Layers:
    layers: Layers = []
    nodes: Collection[str] = (branch.start,)
    for place, hop in enumerate(branch.hops):
        layers.append(next_layer(branch, place, nodes, source.ahead(nodes, hop), MOST))
        nodes = layers[-1]
    return layers


def next_layer(
    branch: Branch, place: int, nodes: Collection[str], reached_from: Mapping[str, Sequence[str]], most: int
) -> dict[str, str]:
    """Nodes after the hop number `place`, each with the one before it. Raises GroundingError for too many."""
    required = branch.via[place] if place < len(branch.via) else None
    layer: dict[str, str] = {}
    for node in nodes:
        for reached in reached_from.get(node, ()):
            if required is None or reached == required:
                layer.setdefault(reached, node)
    if len(layer) > most:
        raise GroundingError(f"{branch.hops[place].property} leads to {len(layer):,} entities; allowed are {most:,}")
    return layer


def combined(query: LogicalQuery, layers: Sequence[Layers]) -> Grounding:
    """The answers that branches lead to, together, and one way to each."""
    ends = [branch[-1] for branch in layers]
    reached = {one for end in ends for one in end} if query.union else set(ends[0]).intersection(*ends[1:])
    # What the query names is no answer to it.
    answers = tuple(sorted(reached - query.given, key=lambda one: (one[0], entity_number(one))))
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
    """The fact that a hop from one node to the next stands for."""
    if hop.forward:
        return Fact(before, hop.property, after, hop.qualifier)
    return Fact(after, hop.property, before)
