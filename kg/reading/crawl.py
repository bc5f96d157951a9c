"""Walking from entities along properties where each step is fetched: what a scope takes in from an online source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kg.model import ENTITY_ID
from kg.reading.entity_json import edges
from kg.reading.numbers import by_number
from kg.scope import Scope

Fetch = Callable[[Iterable[str]], Iterator[tuple[str, Mapping[str, Any]]]]  # ids -> (id as asked, entity object)

_AT_A_TIME = 50  # entities whose classes are looked up together


def reached(
    fetch: Fetch,
    seeds: Sequence[str],
    scope: Scope,
    redirects: dict[str, str],
    spared: Collection[str],
    idle: set[str],
) -> Iterator[Mapping[str, Any]]:
    """The seeds and what the steps reach, layer by layer, each entity once; then the properties that these use.

    Ids that were merged go to `redirects`. Entities in `spared` are never excluded. Excluded classes that come up leave
    `idle`.
    """
    asked = set(seeds)
    yielded: set[str] = set()
    used: set[str] = set()
    exclusion = _Exclusion(fetch, scope.excluded, spared, idle)
    layer = list(seeds)
    for hop in range(scope.hops + 1):
        following: set[str] = set()
        for data in _each_once(exclusion.applied(fetch(layer)), asked, yielded, redirects, missing=hop == 0):
            yield data
            if "missing" in data:
                continue
            if scope.properties:
                used.update(filter(ENTITY_ID.match, _properties(data)))
            if hop < scope.hops:
                targets = set().union(*(_targets(data, prop) for prop in scope.along))
                if scope.hub_limit is None or len(targets) <= scope.hub_limit:
                    following |= targets
        layer = sorted(following - asked - yielded, key=by_number)
        asked |= following
        if not layer:
            break
    lacking = sorted(used - asked - yielded, key=by_number)
    if lacking:
        yield from _each_once(fetch(lacking), asked, yielded, redirects, missing=False)


class _Exclusion:
    """Keeps the instances of some classes, or of any class below them, out; the classes are fetched as they come up."""

    def __init__(self, fetch: Fetch, classes: Collection[str], spared: Collection[str], idle: set[str]) -> None:
        self._fetch = fetch
        self._excluded = frozenset(classes)
        self._spared = spared
        self._idle = idle
        self._above: dict[str, set[str]] = {}

    def applied(self, entities: Iterator[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What is not excluded, in order."""
        if not self._excluded:
            yield from entities
            return
        while batch := list(islice(entities, _AT_A_TIME)):
            classes = [_targets(data, "P31") for _, data in batch]
            self._learn(set().union(*classes))
            for (asked_id, data), kinds in zip(batch, classes, strict=True):
                if asked_id in self._spared or data["id"] in self._spared or not self._reaches(kinds):
                    yield asked_id, data

    def _learn(self, classes: set[str]) -> None:
        layer = classes - self._above.keys()
        while layer:
            for wanted, data in self._fetch(sorted(layer)):
                self._above[wanted] = _targets(data, "P279")
                if data["id"] != wanted:
                    self._above[wanted] = {str(data["id"])}
            layer = set().union(*(self._above[kind] for kind in layer)) - self._above.keys()
        self._idle.difference_update(self._above)

    def _reaches(self, classes: set[str]) -> bool:
        seen: set[str] = set()
        while layer := classes - seen:
            if not self._excluded.isdisjoint(layer):
                return True
            seen |= layer
            classes = set().union(*(self._above.get(kind, ()) for kind in layer))
        return False


def _targets(data: Mapping[str, Any], prop: str) -> set[str]:
    return {target for edge, target in edges(data) if edge == prop and target is not None and ENTITY_ID.match(target)}


def _each_once(
    entities: Iterable[tuple[str, Mapping[str, Any]]],
    asked: set[str],
    yielded: set[str],
    redirects: dict[str, str],
    *,
    missing: bool,
) -> Iterator[Mapping[str, Any]]:
    for asked_id, data in entities:
        if "missing" in data:
            if missing:  # who is merely pointed to may be gone, as in a dump
                yield data
            continue
        name = str(data["id"])
        if name != asked_id:
            redirects[asked_id] = name
            asked.add(name)
        if name not in yielded:
            yielded.add(name)
            yield data


def _properties(data: Mapping[str, Any]) -> Iterator[str]:
    """The properties of an object's statements and qualifiers."""
    claims = data.get("claims")
    for prop, statements in claims.items() if isinstance(claims, dict) else ():
        yield prop
        for statement in statements if isinstance(statements, list) else ():
            qualifiers = statement.get("qualifiers") if isinstance(statement, dict) else None
            if isinstance(qualifiers, dict):
                yield from qualifiers
