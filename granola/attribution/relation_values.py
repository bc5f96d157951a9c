"""The values that relations have in a store, by class: what could stand in the place of another."""

from __future__ import annotations

from collections.abc import Iterable

from granola.attribution.relation_table import used
from kg.queries import Hop, StoreFacts

CLASS = "P31"
_MOST = 2_000  # values of a relation that are looked at, the most frequent ones


class RelationValues:
    """Read once for each relation, and kept."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts
        self._values_by_class: dict[str, dict[str, list[str]]] = {}
        self._leading: dict[str, dict[str, None]] = {}  # of each class the relations with values of it

    def by_class(self, relation: str) -> dict[str, list[str]]:
        """Values of a relation by their classes, the most frequent first."""
        values_by_class = self._values_by_class.get(relation)
        if values_by_class is None:
            values = [value for value, _ in self._facts.store.values_of(relation, limit=_MOST)]
            self._facts.fetch(values)
            values_by_class = self._values_by_class[relation] = {}
            for value in values:
                for kind in self.classes(value):
                    values_by_class.setdefault(kind, []).append(value)
        return values_by_class

    def classes(self, entity_id: str) -> tuple[str, ...]:
        """The classes of an entity."""
        return self._facts.targets(entity_id, Hop(property=CLASS))

    def alike(self, relation: str, classes: Iterable[str]) -> list[str]:
        """Values of a relation that have one of the classes."""
        values_by_class = self.by_class(relation)
        return list(dict.fromkeys(value for kind in classes for value in values_by_class.get(kind, ())))

    def leading_to(self, entity_id: str) -> list[str]:
        """Relations in use that have values of one of the entity's classes, by number."""
        if not self._leading:
            for relation in used():
                for kind in self.by_class(relation):
                    self._leading.setdefault(kind, {})[relation] = None
        relations = {relation for kind in self.classes(entity_id) for relation in self._leading.get(kind, ())}
        return [relation for relation in used() if relation in relations]
