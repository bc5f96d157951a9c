"""Logical queries, paths from given entities to the answer, and their grounding: answers, and the facts behind each.

All paths are wanted (one hop: a single triple; one path; a tree of several that meet in the answer), or any of them
(a union). Hu et al. 2025 (CAQA), section 3.3, whose shapes are for Freebase; there a pair of edges through a CVT node
counts as one hop, here a pair of edges through a statement node does.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from kg.base.model import ENTITY_ID, PROPERTY_ID, Entity, EntityValue, Rank, Snak, Statement, number_within_kind
from kg.errors import GroundingError, QueryShapeError
from kg.store.protocol import Store

MOST = 1_000  # nodes of a layer
_BATCH = 256  # queries grounded together
Layers = list[dict[str, str]]  # for each hop: node reached -> the node before it that was found first
_KEPT = 200_000  # entities with their statements, some 500 MB of the largest


class Shape(StrEnum):
    """The shape of a query."""

    SINGLE = "single"
    PATH = "path"
    TREE = "tree"
    UNION = "union"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hop:
    """One step from a node to the next: along a property, or (`forward` False) against it.

    With `qualifier` the next node is that qualifier's value of a statement of the property; only forward.
    """

    property: str
    forward: bool = True
    qualifier: str | None = None

    def __post_init__(self) -> None:
        for one in (self.property, self.qualifier):
            if one is not None and not PROPERTY_ID.match(one):
                raise QueryShapeError(f"{one!r} is no property; expected P and a number, as in P19")
        if self.qualifier is not None and not self.forward:
            raise QueryShapeError("a qualifier's value is reached from its statement only, not the other way")


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """The way from the entity `start` to the answer. `via` has one id or None for each node in between."""

    start: str
    hops: tuple[Hop, ...]
    via: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        if not self.hops:
            raise QueryShapeError(f"no hop leads away from {self.start}; at least one is wanted")
        if not self.via:
            object.__setattr__(self, "via", (None,) * (len(self.hops) - 1))  # the class is frozen
        if len(self.via) != len(self.hops) - 1:
            raise QueryShapeError(f"{len(self.hops)} hops have {len(self.hops) - 1} nodes between, not {len(self.via)}")
        for one in (self.start, *self.via):
            if one is not None and not ENTITY_ID.match(one):
                raise QueryShapeError(f"{one!r} is no entity; expected Q and a number, as in Q42")

    @property
    def properties(self) -> frozenset[str]:
        """Every property of the hops, qualifiers included."""
        return frozenset(one for hop in self.hops for one in (hop.property, hop.qualifier) if one is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class LogicalQuery:
    """Branches that all lead to the answer; with `union` True any of them is enough."""

    branches: tuple[Branch, ...]
    union: bool = False

    def __post_init__(self) -> None:
        if not self.branches:
            raise QueryShapeError("a query without branches asks for nothing")
        if len(set(self.branches)) < len(self.branches):
            raise QueryShapeError("a branch is in the query twice")  # a repeated branch adds no condition
        if self.union and len(self.branches) < 2:
            raise QueryShapeError("a union has two branches or more")

    @property
    def shape(self) -> Shape:
        """Single, path, tree or union."""
        if self.union:
            return Shape.UNION
        if len(self.branches) > 1:
            return Shape.TREE
        return Shape.SINGLE if len(self.branches[0].hops) == 1 else Shape.PATH

    @property
    def properties(self) -> frozenset[str]:
        """Every property of the query."""
        return frozenset().union(*(branch.properties for branch in self.branches))

    @property
    def named_entities(self) -> frozenset[str]:
        """Every entity that the query names."""
        return frozenset(one for branch in self.branches for one in (branch.start, *branch.via) if one is not None)

    def to_json(self) -> dict[str, Any]:
        """The form stored in files, with every field, so that columns of many queries have one type."""
        data: dict[str, Any] = _type_adapter().dump_python(self, mode="json")
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LogicalQuery:
        """The inverse of `to_json`; "forward", "qualifier", "via" and "union" may be absent. Raises QueryShapeError."""
        try:
            return _type_adapter().validate_python(data)
        except ValidationError as error:
            raise QueryShapeError(
                f"this is no query: {error}; expected what docs/reference/attribution.md shows"
            ) from error


@cache
def _type_adapter() -> TypeAdapter[LogicalQuery]:
    return TypeAdapter(LogicalQuery)


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

    def next_nodes(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
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
        """All facts on the paths to the answers, without repeats, in order."""
        return tuple(dict.fromkeys(fact for answer in self.answers for way in self.ways[answer] for fact in way))


class FactList:
    """Facts in memory as a source; all other facts count as false."""

    def __init__(self, facts: Collection[Fact]) -> None:
        self._ahead: dict[tuple[str, str, str | None], list[str]] = {}
        self._back: dict[tuple[str, str], list[str]] = {}
        for fact in facts:
            self._ahead.setdefault((fact.subject, fact.property, fact.qualifier), []).append(fact.object)
            if fact.qualifier is None:  # a qualifier's value leads to no statement
                self._back.setdefault((fact.object, fact.property), []).append(fact.subject)

    def fetch(self, ids: Iterable[str]) -> None:
        """See `FactSource.fetch`; does nothing, for all facts are in memory."""

    def next_nodes(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """See `FactSource.next_nodes`."""
        if hop.forward:
            return {node: self._ahead.get((node, hop.property, hop.qualifier), ()) for node in nodes}
        return {node: self._back.get((node, hop.property), ()) for node in nodes}


def ground(query: LogicalQuery, source: FactSource) -> Grounding:
    """The answers in a source, with a path to each. Raises GroundingError where a layer has more than MOST nodes."""
    ((_, found),) = ground_all([query], source)
    if isinstance(found, GroundingError):
        raise found
    return found


def ground_all(
    queries: Iterable[LogicalQuery], source: FactSource
) -> Iterator[tuple[LogicalQuery, Grounding | GroundingError]]:
    """(query, its grounding or the error), in order; a batch of queries costs one round trip per hop."""
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
            starts.setdefault(branch.hops[place], {}).update(nodes)  # in order: the first way found is shown
        source.fetch(node for hop, nodes in starts.items() if hop.forward for node in nodes)
        ahead = {hop: source.next_nodes(nodes, hop) for hop, nodes in starts.items()}
        for number, branch, layers, nodes in walking:
            try:
                layers.append(_next_layer(branch, place, nodes, ahead[branch.hops[place]]))
            except GroundingError as error:
                failed[number] = error  # the other queries of the batch go on
    return [failed.get(number) or _join_branches(query, layers_of[number]) for number, query in enumerate(queries)]


def _next_layer(
    branch: Branch, place: int, nodes: Collection[str], reached_from: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """{node reached by hop number `place`: node from which it is reached}. Raises GroundingError for over MOST."""
    required = branch.via[place] if place < len(branch.via) else None
    layer: dict[str, str] = {}
    for node in nodes:
        for reached in reached_from.get(node, ()):
            if required is None or reached == required:
                layer.setdefault(reached, node)  # one path per node is enough
    if len(layer) > MOST:
        raise GroundingError(f"{branch.hops[place].property} leads to {len(layer):,} entities; allowed are {MOST:,}")
    return layer


def _join_branches(query: LogicalQuery, layers: Sequence[Layers]) -> Grounding:
    """The grounding of a query: the nodes that end all branches (for a union: any branch), with one path to each."""
    ends = [branch[-1] for branch in layers]
    reached = {one for end in ends for one in end} if query.union else set(ends[0]).intersection(*ends[1:])
    # Entities named in the query are no answers to it: they would give the answer away.
    answers = tuple(sorted(reached - query.named_entities, key=lambda one: (one[0], number_within_kind(one))))
    ways = {
        answer: tuple(
            _facts_on_path(branch, found, answer) if answer in found[-1] else ()
            for branch, found in zip(query.branches, layers, strict=True)
        )
        for answer in answers
    }
    return Grounding(query=query, answers=answers, ways=ways)


def _facts_on_path(branch: Branch, layers: Layers, answer: str) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    node = answer
    for hop, layer in zip(reversed(branch.hops), reversed(layers), strict=True):
        before = layer[node]
        subject, target = (before, node) if hop.forward else (node, before)
        facts.append(Fact(subject, hop.property, target, hop.qualifier))
        node = before
    return tuple(reversed(facts))


class StoreFacts:
    """Facts of a store: every statement that is not deprecated, whatever its time. Entities are kept once read."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._entities: dict[str, Entity | None] = {}
        self._back: dict[tuple[str, str], tuple[str, ...]] = {}
        self._targets: dict[tuple[str, Hop, bool], tuple[str, ...]] = {}  # only for entities in the cache

    def fetch(self, ids: Iterable[str]) -> None:
        """Read the entities that are not here yet, in one batch."""
        lacking = [entity_id for entity_id in dict.fromkeys(ids) if entity_id not in self._entities]
        if not lacking:
            return
        if len(self._entities) + len(lacking) > _KEPT:
            self._entities.clear()
            self._targets.clear()
        # English terms alone: templates and checks are in English.
        entities = self.store.entities(lacking, languages=("en", "mul"))
        for entity_id in lacking:
            self._entities[entity_id] = entities.get(entity_id)

    def entity(self, entity_id: str) -> Entity | None:
        """An entity with all its statements; None where the store lacks it."""
        if entity_id not in self._entities:
            self.fetch([entity_id])
        return self._entities[entity_id]

    def next_nodes(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """See `FactSource.next_nodes`. A node reached against a property has at most one more than the limit."""
        if hop.forward:
            self.fetch(nodes)
            return {node: self.targets(node, hop) for node in nodes}
        pairs = [(hop.property, node) for node in nodes]
        lacking = [pair for pair in pairs if pair not in self._back]
        if lacking:
            if len(self._back) > _KEPT:
                self._back.clear()
            referrers_of = self.store.referrers(lacking, limit=MOST + 1)  # one more shows that there are too many
            for pair in lacking:
                self._back[pair] = tuple(referrers_of.get(pair, ()))
        return {node: self._back.get((hop.property, node), ()) for node in nodes}

    def targets(self, entity_id: str, hop: Hop, *, any_rank: bool = False) -> tuple[str, ...]:
        """The entities that a forward hop leads to, in the order of statements; `any_rank` adds deprecated ones."""
        key = (entity_id, hop, any_rank)
        if (known := self._targets.get(key)) is not None:
            return known
        entity = self.entity(entity_id)
        targets: dict[str, None] = {}
        for statement in entity.values(hop.property) if entity is not None else ():
            if statement.rank is Rank.DEPRECATED and not any_rank:
                continue
            stated: Sequence[Statement | Snak] = (statement,)
            if hop.qualifier is not None:
                stated = statement.qualifier(hop.qualifier)
            targets |= {one.value.id: None for one in stated if isinstance(one.value, EntityValue)}
        known = self._targets[key] = tuple(target for target in targets if ENTITY_ID.match(target))  # no lexemes
        return known

    def has_fact(self, subject: str, hop: Hop, target: str) -> bool:
        """Whether the store contains a fact, at any rank and time."""
        return target in self.targets(subject, hop, any_rank=True)
