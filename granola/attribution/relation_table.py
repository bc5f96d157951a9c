"""Relations as benchmarks of attribution see them: how they are worded, which tell of each other, which ask nothing;
and the values that relations have in a store."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from abstraction.properties import with_role
from kg.queries import Hop, StoreFacts


@cache
def _table() -> dict[str, Any]:
    path = files("granola") / "attribution" / "data" / "relation_wordings.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@cache
def known_properties() -> tuple[str, ...]:
    """Relations that a person would ask for, by number."""
    return tuple(prop for prop, words in _table()["wordings"].items() if "question" in words and ">" not in prop)


@cache
def follow_ups() -> dict[str, tuple[str, ...]]:
    """Of each relation that leads to one thing which is asked about by what leads to it: what is asked of it."""
    data = _table()
    return {relation: tuple(data["asked"][kind]) for kind, own in data["through"].items() for relation in own}


@cache
def asked_together() -> dict[str, tuple[str, ...]]:
    """Of each relation those that are asked together with it, of another subject: "Who wrote A and directed B?"."""
    return {relation: tuple(group) for group in _table()["meets"] for relation in group}


@cache
def multivalued_properties() -> frozenset[str]:
    """Relations whose subjects often have more than one value: another one contradicts none."""
    return frozenset(prop for prop, words in _table()["wordings"].items() if words.get("several"))


@cache
def related_properties(relation: str) -> frozenset[str]:
    """The relation and those that tell something of it: where one is born tells of one's country."""
    return frozenset({relation}).union(*(set(group) for group in _table()["groups"].values() if relation in group))


def wording(relation: str) -> dict[str, Any]:
    """The templates of a relation: `says`, `noun`, `question`, `that` with its `head`, `against`, where it has them."""
    wordings: dict[str, Any] = _table()["wordings"].get(relation, {})
    return wordings


@cache
def enclosing() -> frozenset[str]:
    """Relations that lead to what contains an entity, or to its kind."""
    return with_role("containing") | with_role("classing")


# The values that relations have in a store, by class: what could stand in the place of another.

CLASS = "P31"
_LOOKED_AT = 60  # values, with five subjects each, by which it is told whether a relation has several
_MOST = 2_000  # values of a relation that are looked at, the most frequent ones


class RelationValues:
    """Read once for each relation, and kept."""

    def __init__(self, facts: StoreFacts) -> None:
        self._facts = facts
        self._values_by_class: dict[str, dict[str, list[str]]] = {}
        self._multivalued: dict[str, bool] = {}
        self._relations_by_class: dict[str, dict[str, None]] = {}  # of each class the relations with values of it

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

    def values_of_classes(self, relation: str, classes: Iterable[str]) -> list[str]:
        """Values of a relation that have one of the classes."""
        values_by_class = self.by_class(relation)
        return list(dict.fromkeys(value for kind in classes for value in values_by_class.get(kind, ())))

    def is_often_multivalued(self, relation: str) -> bool:
        """Whether the table says that subjects have several values, or one in ten of those looked at in the store."""
        known = self._multivalued.get(relation)
        if known is None:
            pairs = [(relation, value) for value, _ in self._facts.store.values_of(relation, limit=_LOOKED_AT)]
            referrers_of = self._facts.store.referrers(pairs, limit=5)
            subjects = dict.fromkeys(one for found in referrers_of.values() for one in found)
            self._facts.fetch(subjects)
            numbers = [len(self._facts.targets(subject, Hop(property=relation))) for subject in subjects]
            measured = sum(number > 1 for number in numbers) > len(numbers) / 10
            known = self._multivalued[relation] = measured or relation in multivalued_properties()
        return known

    def relations_to(self, entity_id: str) -> list[str]:
        """Relations in use that have values of one of the entity's classes, by number."""
        if not self._relations_by_class:
            for relation in known_properties():
                for kind in self.by_class(relation):
                    self._relations_by_class.setdefault(kind, {})[relation] = None
        relations = {
            relation for kind in self.classes(entity_id) for relation in self._relations_by_class.get(kind, ())
        }
        return [relation for relation in known_properties() if relation in relations]
