"""Walks from entities along properties where each step is fetched: the closure of a scope at an online source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kg.base.model import ENTITY_ID
from kg.base.scope import Scope
from kg.reading.entity_json import EdgeData, EdgeStatement, MaybeId
from kg.reading.numbers import by_number

Fetch = Callable[[Iterable[str]], Iterator[tuple[str, Mapping[str, Any]]]]  # ids -> (id as asked, entity object)


def crawl(
    fetch: Fetch,
    seeds: Sequence[str],
    scope: Scope,
    redirects: dict[str, str],
) -> Iterator[Mapping[str, Any]]:
    """The seeds and the entities reached, layer by layer, each once; then the properties that these use.

    Merged ids are added to `redirects`.
    """
    asked = set(seeds)
    yielded: set[str] = set()
    used: set[str] = set()
    layer = list(seeds)
    for hop in range(scope.hops + 1):
        following: set[str] = set()
        for data in _each_once(fetch(layer), asked, yielded, redirects, missing=hop == 0):
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


def _targets(data: Mapping[str, Any], prop: str) -> set[str]:
    """The entities that the statements of a property lead to; unreadable statements are reported by the build."""
    claims = data.get("claims")
    try:
        stated = msgspec.convert(claims.get(prop) or [] if isinstance(claims, dict) else [], list[EdgeStatement])
    except msgspec.ValidationError:
        return set()
    values = (one.mainsnak.datavalue for one in stated if one.rank != "deprecated")
    ids = (data.value.id for data in values if isinstance(data, EdgeData) and isinstance(data.value, MaybeId))
    return {target for target in ids if target is not None and ENTITY_ID.match(target)}


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
