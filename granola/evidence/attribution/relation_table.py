"""The table of relations for attribution benchmarks: wordings, related relations, natural follow-up questions; and the
values that relations have in a store.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from kg.graph.logical_query import Hop, StoreFacts

CLASS = "P31"
_LOOKED_AT = 60  # values sampled, with five subjects each, to see whether a relation has several values
_MOST = 2_000  # most frequent values of a relation that are read


@cache
def _table() -> dict[str, Any]:
    path = files("granola") / "evidence" / "attribution" / "data" / "relation_wordings.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


@cache
def known_properties() -> tuple[str, ...]:
    """Properties with a question in the table, in the order of the table."""
    return tuple(prop for prop, words in _table()["wordings"].items() if "question" in words and ">" not in prop)


@cache
def follow_up_relations() -> dict[str, tuple[str, ...]]:
    """For each relation, the relations that a question may ask about its target."""
    data = _table()
    return {relation: tuple(data["asked"][kind]) for kind, own in data["through"].items() for relation in own}


@cache
def relations_sharing_answers() -> dict[str, tuple[str, ...]]:
    """For each relation, those that can share an answer with it: "Who wrote A and directed B?"."""
    return {relation: tuple(group) for group in _table()["meets"] for relation in group}


@cache
def related_properties(relation: str) -> frozenset[str]:
    """The relation and those that give information about it: a place of birth suggests a country."""
    return frozenset({relation}).union(*(set(group) for group in _table()["groups"].values() if relation in group))


def wording(relation: str) -> dict[str, Any]:
    """The templates of a relation, where it has them: `says`, `noun`, `question`, `that` with `head`, `against`.

    `several`: subjects often have several values. `unlike`: a class for which the question sounds unnatural.
    """
    wordings: dict[str, Any] = _table()["wordings"].get(relation, {})
    return wordings


class RelationValues:
    """Values of relations in a store, read once per relation and cached."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts
        self._values_by_class: dict[str, dict[str, list[str]]] = {}
        self._multivalued: dict[str, bool] = {}
        self._relations_by_class: dict[str, dict[str, None]] = {}  # by class: relations with values of that class

    def by_class(self, relation: str) -> dict[str, list[str]]:
        """Values of a relation by class, the most frequent first."""
        if relation not in self._values_by_class:
            values = [value for value, _ in self._facts.store.values_of(relation, limit=_MOST)]
            self._facts.fetch(values)
            by_class = self._values_by_class[relation] = {}
            for value in values:
                for kind in self.classes(value):
                    by_class.setdefault(kind, []).append(value)
        return self._values_by_class[relation]

    def classes(self, entity_id: str) -> tuple[str, ...]:
        """The classes of an entity."""
        return self._facts.targets(entity_id, Hop(property=CLASS))

    def is_often_multivalued(self, relation: str) -> bool:
        """Whether subjects often have several values: by the table, or in over a tenth of a sample of the store."""
        if relation not in self._multivalued:
            pairs = [(relation, value) for value, _ in self._facts.store.values_of(relation, limit=_LOOKED_AT)]
            referrers_of = self._facts.store.referrers(pairs, limit=5)
            subjects = dict.fromkeys(one for found in referrers_of.values() for one in found)
            self._facts.fetch(subjects)
            numbers = [len(self._facts.targets(subject, Hop(property=relation))) for subject in subjects]
            # A tenth: properties with occasional second values, as a disputed birth date, stay below.
            measured = sum(number > 1 for number in numbers) > len(numbers) / 10
            self._multivalued[relation] = measured or bool(wording(relation).get("several"))
        return self._multivalued[relation]

    def relations_to(self, entity_id: str) -> list[str]:
        """Known properties with values in one of the classes of the entity."""
        if not self._relations_by_class:
            for relation in known_properties():
                for kind in self.by_class(relation):
                    self._relations_by_class.setdefault(kind, {})[relation] = None
        own = [self._relations_by_class.get(kind, {}) for kind in self.classes(entity_id)]
        return [relation for relation in known_properties() if any(relation in one for one in own)]
