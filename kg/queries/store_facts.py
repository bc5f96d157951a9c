"""A store as a source of facts for queries, and the grounding of many queries together."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kg.errors import GroundingError
from kg.model import ENTITY_ID, Entity, EntityValue, Rank
from kg.queries.logical_query import Hop, LogicalQuery
from kg.queries.query_grounding import Grounding, Layers, combined, next_layer
from kg.store.protocol import Store

_KEPT = 200_000  # entities with their statements, some 500 MB of the largest
_BATCH = 256  # queries grounded together


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundingLimits:
    """`most`: nodes after a hop, also answers. `seconds`: for all queries of a batch together."""

    most: int = 1_000
    seconds: float = 60.0


class StoreFacts:
    """Facts of a store: every statement that is not deprecated, whatever its time. Entities are kept once read."""

    def __init__(self, store: Store, *, limits: GroundingLimits | None = None) -> None:
        self.store = store
        self.limits = limits or GroundingLimits()
        self._entities: dict[str, Entity | None] = {}
        self._back: dict[tuple[str, str], tuple[str, ...]] = {}
        self._targets: dict[tuple[str, Hop, bool], tuple[str, ...]] = {}  # of entities that are kept

    def fetch(self, ids: Iterable[str]) -> None:
        """Read the entities that are not here yet, in one batch."""
        lacking = [entity_id for entity_id in dict.fromkeys(ids) if entity_id not in self._entities]
        if not lacking:
            return
        if len(self._entities) + len(lacking) > _KEPT:
            self._entities.clear()
            self._targets.clear()
        # English terms: what templates and checks speak.
        entities = self.store.entities(lacking, languages=("en", "mul"))
        for entity_id in lacking:
            self._entities[entity_id] = entities.get(entity_id)

    def passing(self, ids: Sequence[str]) -> list[Entity]:
        """Entities that are read in passing: kept while there is room, so that they are not read again."""
        if len(self._entities) + len(ids) <= _KEPT:
            self.fetch(ids)
            return [entity for entity_id in ids if (entity := self._entities[entity_id]) is not None]
        return list(self.store.entities(ids, languages=("en", "mul")).values())

    def entity(self, entity_id: str) -> Entity | None:
        """An entity with all its statements; None where the store lacks it."""
        if entity_id not in self._entities:
            self.fetch([entity_id])
        return self._entities[entity_id]

    def ahead(self, nodes: Collection[str], hop: Hop) -> Mapping[str, Sequence[str]]:
        """As `FactSource.ahead`. A node reached against a property has at most one more than the limit."""
        if hop.forward:
            self.fetch(nodes)
            return {node: self.targets(node, hop) for node in nodes}
        pairs = [(hop.property, node) for node in nodes]
        lacking = [pair for pair in pairs if pair not in self._back]
        if lacking:
            if len(self._back) > _KEPT:
                self._back.clear()
            referrers_of = self.store.referrers(lacking, limit=self.limits.most + 1)
            for pair in lacking:
                self._back[pair] = tuple(referrers_of.get(pair, ()))
        return {node: self._back.get((hop.property, node), ()) for node in nodes}

    def targets(self, entity_id: str, hop: Hop, *, any_rank: bool = False) -> tuple[str, ...]:
        """The entities that a forward hop leads to, in the order of statements; `any_rank` adds deprecated ones."""
        key = (entity_id, hop, any_rank)
        known = self._targets.get(key)
        if known is None:
            known = self._targets[key] = self._read_targets(entity_id, hop, any_rank)
        return known

    def _read_targets(self, entity_id: str, hop: Hop, any_rank: bool) -> tuple[str, ...]:
        entity = self.entity(entity_id)
        if entity is None:
            return ()
        targets: dict[str, None] = {}
        for statement in entity.values(hop.property):
            if statement.rank is Rank.DEPRECATED and not any_rank:
                continue
            if hop.qualifier is None:
                if statement.target is not None:
                    targets[statement.target] = None
                continue
            for snak in statement.qualifier(hop.qualifier):
                if isinstance(snak.value, EntityValue):
                    targets[snak.value.id] = None
        return tuple(target for target in targets if ENTITY_ID.match(target))

    def holds(self, subject: str, hop: Hop, target: str) -> bool:
        """Whether a fact stands in the store at any rank and time."""
        return target in self.targets(subject, hop, any_rank=True)


def ground_all(
    queries: Iterable[LogicalQuery], facts: StoreFacts
) -> Iterator[tuple[LogicalQuery, Grounding | GroundingError]]:
    """Each query with its grounding, or why it has none, in order; a batch costs one round trip a hop."""
    source = iter(queries)
    while batch := list(islice(source, _BATCH)):
        yield from zip(batch, _ground_batch(batch, facts), strict=True)


def _ground_batch(queries: Sequence[LogicalQuery], facts: StoreFacts) -> list[Grounding | GroundingError]:
    ends = time.monotonic() + facts.limits.seconds
    layers_of: list[list[Layers]] = [[[] for _ in query.branches] for query in queries]
    failed: dict[int, GroundingError] = {}
    for place in range(max(len(branch.hops) for query in queries for branch in query.branches)):
        _read_ahead(queries, layers_of, failed, place, facts)
        for number, query in enumerate(queries):
            if number in failed:
                continue
            if time.monotonic() > ends:
                failed[number] = GroundingError(f"not grounded in {facts.limits.seconds:g} s")
                continue
            for branch, layers in zip(query.branches, layers_of[number], strict=True):
                if place >= len(branch.hops):
                    continue
                nodes = layers[-1] if place else {branch.start: ""}
                try:
                    reached_from = facts.ahead(nodes, branch.hops[place])
                    layers.append(next_layer(branch, place, nodes, reached_from, facts.limits.most))
                except GroundingError as error:
                    failed[number] = error
                    break
    return [
        failed[number] if number in failed else combined(query, layers_of[number])
        for number, query in enumerate(queries)
    ]


def _read_ahead(
    queries: Sequence[LogicalQuery],
    layers_of: Sequence[Sequence[Layers]],
    failed: Mapping[int, GroundingError],
    place: int,
    facts: StoreFacts,
) -> None:
    """Read what the hops of one place need, all of them in as few round trips as there are kinds of hop."""
    forward: dict[str, None] = {}
    backward: dict[Hop, dict[str, None]] = {}
    for number, query in enumerate(queries):
        if number in failed:
            continue
        for branch, layers in zip(query.branches, layers_of[number], strict=True):
            if place < len(branch.hops):
                hop = branch.hops[place]
                nodes = list(layers[-1]) if place else [branch.start]
                nodes_of_hop = forward if hop.forward else backward.setdefault(hop, {})
                nodes_of_hop.update(dict.fromkeys(nodes))
    facts.fetch(forward)
    for hop, starts in backward.items():
        facts.ahead(starts, hop)
