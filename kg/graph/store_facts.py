"""A store as a source of facts for queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kg.base.model import ENTITY_ID, Entity, EntityValue, Rank
from kg.graph.logical_query import Hop
from kg.graph.query_grounding import MOST
from kg.store.protocol import Store

_KEPT = 200_000  # entities with their statements, some 500 MB of the largest


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

    def scan(self, ids: Sequence[str]) -> list[Entity]:
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
        """See `FactSource.ahead`. A node reached against a property has at most one more than the limit."""
        if hop.forward:
            self.fetch(nodes)
            return {node: self.targets(node, hop) for node in nodes}
        pairs = [(hop.property, node) for node in nodes]
        lacking = [pair for pair in pairs if pair not in self._back]
        if lacking:
            if len(self._back) > _KEPT:
                self._back.clear()
            referrers_of = self.store.referrers(lacking, limit=MOST + 1)
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
        """Whether the store contains a fact, at any rank and time."""
        return target in self.targets(subject, hop, any_rank=True)
