"""Bounded walks over any store: written once here, done by the backend where it can.

A walk follows statements that are not deprecated from subject to value. It never goes into an entity twice, ends
after `hops` steps, and stays inside the snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from kg.errors import SelectionError
from kg.ids import in_order, number_of
from kg.model import Rank
from kg.store.protocol import Store

MOST_HOPS = 30


@runtime_checkable
class Walker(Protocol):
    """A store that walks by itself; the same answer as `closure` gives over any other."""

    def closure(self, ids: Collection[str], properties: Collection[str], *, hops: int) -> dict[str, dict[str, int]]:
        """As the function `closure` below."""
        ...


def closure(
    store: Store, ids: Collection[str], properties: Collection[str], *, hops: int
) -> Mapping[str, Mapping[str, int]]:
    """What lies above each entity: {given id: {reached id: fewest steps}}, nearest first, then by id number.

    `hops` is from 1 to 30. An entity that reaches nothing has an empty mapping, an unknown one none; an entity
    on a cycle reaches itself. Raises SelectionError for other hops and for what is no property id.
    """
    if not 1 <= hops <= MOST_HOPS:
        raise SelectionError(f"hops must be from 1 to {MOST_HOPS}, not {hops}")
    for prop in properties:
        if (number_of(prop) or 0) >= 0:
            raise SelectionError(f"{prop!r} is no property id; expected one as in P131")
    if isinstance(store, Walker):
        return store.closure(ids, properties, hops=hops)
    above, known = _edges(store, ids, frozenset(properties), hops)
    return {given: in_order(_walk(known[given], above, hops)) for given in dict.fromkeys(ids) if given in known}


def _edges(
    store: Store, ids: Collection[str], properties: frozenset[str], hops: int
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The targets of every entity within reach, read a layer at a time, and the given ids' own ids."""
    above: dict[str, list[str]] = {}
    known: dict[str, str] = {}
    layer = list(dict.fromkeys(ids))
    for depth in range(hops + 1):
        entities = store.entities(layer, languages=(), properties=properties)
        if depth == 0:
            known = {entity_id: entity.id for entity_id, entity in entities.items()}
        for entity in entities.values():
            stated = (s.target for s in entity.statements if s.target and s.rank is not Rank.DEPRECATED)
            above[entity.id] = list(dict.fromkeys(stated))
        layer = list(dict.fromkeys(t for entity in entities.values() for t in above[entity.id] if t not in above))
        if not layer:
            break
    return above, known


def _walk(start: str, above: Mapping[str, list[str]], hops: int) -> dict[str, int]:
    steps: dict[str, int] = {}
    layer = [start]
    for step in range(1, hops + 1):
        layer = list(dict.fromkeys(t for entity_id in layer for t in above[entity_id] if t in above and t not in steps))
        steps.update(dict.fromkeys(layer, step))
        if not layer:
            break
    return steps
