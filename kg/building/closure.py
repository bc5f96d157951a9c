"""Sets of ids, and who goes into a snapshot by the graph: classes with all below them, and steps along properties.

A first reading of the source collects the few kinds of edge that the scope asks for into a table sorted by
subject; the closure is then a walk in that table. See docs/reference/snapshots.md for why there are two readings. At an
online source each step is fetched (`crawl`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kg.base.model import ENTITY_ID, signed_number
from kg.base.scope import Scope
from kg.reading.entity_json import EdgeData, EdgeStatement, OptionalId, id_sort_key

Fetch = Callable[[Iterable[str]], Iterator[tuple[str, Mapping[str, Any]]]]  # ids -> (id as asked, entity object)
INSTANCE_OF, SUBCLASS_OF = 31, 279  # P31, P279
_BITS = 16  # a page has one bit for each of 2**16 ids: 8 KiB


def crawl(fetch: Fetch, seeds: Sequence[str], scope: Scope, redirects: dict[str, str]) -> Iterator[Mapping[str, Any]]:
    """The seeds and the entities reached, layer by layer, each once; then the properties that these use.

    Merged ids are added to `redirects`.
    """
    asked = set(seeds)
    yielded: set[str] = set()
    used: set[str] = set()
    layer = list(seeds)
    for hop in range(scope.hops + 1):
        following: set[str] = set()
        for data in _entities_not_yielded_before(fetch(layer), asked, yielded, redirects, with_missing=hop == 0):
            yield data
            if "missing" in data:
                continue
            if scope.properties:
                used.update(filter(ENTITY_ID.match, _ids_of_used_properties(data)))
            if hop < scope.hops:  # entities of the last hop lead no further
                targets = set().union(*(_target_ids_not_deprecated(data, prop) for prop in scope.along))
                if scope.hub_limit is None or len(targets) <= scope.hub_limit:
                    following |= targets
        # sorted, so that equal requests send equal queries
        layer = sorted(following - asked - yielded, key=id_sort_key)
        asked |= following
        if not layer:
            break
    lacking = sorted(used - asked - yielded, key=id_sort_key)
    if lacking:
        yield from _entities_not_yielded_before(fetch(lacking), asked, yielded, redirects, with_missing=False)


def _target_ids_not_deprecated(data: Mapping[str, Any], prop: str) -> set[str]:
    """The entities that are values of a property; unreadable statements are left out here and reported by the build."""
    claims = data.get("claims")
    try:
        stated = msgspec.convert(claims.get(prop) or [] if isinstance(claims, dict) else [], list[EdgeStatement])
    except msgspec.ValidationError:
        return set()
    values = (one.mainsnak.datavalue for one in stated if one.rank != "deprecated")
    ids = (data.value.id for data in values if isinstance(data, EdgeData) and isinstance(data.value, OptionalId))
    return {target for target in ids if target is not None and ENTITY_ID.match(target)}


def _entities_not_yielded_before(
    entities: Iterable[tuple[str, Mapping[str, Any]]],
    asked: set[str],
    yielded: set[str],
    redirects: dict[str, str],
    *,
    with_missing: bool,
) -> Iterator[Mapping[str, Any]]:
    for asked_id, data in entities:
        if "missing" in data:
            if with_missing:  # a value of a statement may be an entity that no longer exists, as in a dump
                yield data
            continue
        name = str(data["id"])
        if name != asked_id:
            redirects[asked_id] = name
            asked.add(name)
        if name not in yielded:
            yielded.add(name)  # two ids that were merged into one are both asked for
            yield data


def _ids_of_used_properties(data: Mapping[str, Any]) -> Iterator[str]:
    """The properties of an object's statements and qualifiers."""
    claims = data.get("claims")
    for prop, statements in claims.items() if isinstance(claims, dict) else ():
        yield prop
        for statement in statements if isinstance(statements, list) else ():
            qualifiers = statement.get("qualifiers") if isinstance(statement, dict) else None
            if isinstance(qualifiers, dict):
                yield from qualifiers


class IdSet:
    """Integers of either sign (see `signed_number`), ascending. All of WikiData takes 20 MB."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._pages: dict[int, bytearray] = {}
        self._size = 0
        for number in numbers:
            self.add(number)

    @classmethod
    def from_pages(cls, pages: Iterable[tuple[int, bytes]]) -> IdSet:
        """The set with these stored `pages`."""
        id_set = cls()
        for key, bits in pages:
            id_set._pages[key] = bytearray(bits)
            id_set._size += int.from_bytes(bits, "little").bit_count()
        return id_set

    def pages(self) -> Iterator[tuple[int, bytes]]:
        """The pages of the set to store: (number of the page, its bits)."""
        for key, bits in self._pages.items():
            yield key, bytes(bits)

    def add(self, number: int) -> bool:
        """Add a number, and return whether it is new."""
        page = self._pages.get(number >> _BITS)
        if page is None:
            page = self._pages[number >> _BITS] = bytearray(1 << (_BITS - 3))
        at, bit = (number >> 3) & ((1 << (_BITS - 3)) - 1), 1 << (number & 7)
        if page[at] & bit:  # an id that is present does not change the size
            return False
        page[at] |= bit
        self._size += 1
        return True

    def __contains__(self, number: int) -> bool:
        page = self._pages.get(number >> _BITS)
        return page is not None and bool(page[(number >> 3) & ((1 << (_BITS - 3)) - 1)] & (1 << (number & 7)))

    def __iter__(self) -> Iterator[int]:
        for key in sorted(self._pages):
            for at, byte in enumerate(self._pages[key]):
                if byte:
                    first = (key << _BITS) + (at << 3)
                    yield from (first + bit for bit in range(8) if byte >> bit & 1)

    def __len__(self) -> int:
        return self._size


def properties_to_survey(scope: Scope) -> frozenset[int]:
    """The properties whose edges a survey for the scope collects."""
    needed = {int(prop[1:]) for prop in scope.along} if scope.hops else set()
    if scope.classes or scope.excluded:
        needed |= {INSTANCE_OF, SUBCLASS_OF}  # the path from an entity to any class above its own
    return frozenset(needed)


def numbers_of_valid_ids(ids: Iterable[str]) -> IdSet:
    """The signed numbers of ids; malformed ids are left out."""
    return IdSet(number for number in map(signed_number, ids) if number is not None)


class EdgeTable:
    """(subject, property, value) edges in a table of the caller's database, which exists."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection = connection
        self._table = table

    def add(self, edges: Iterable[tuple[int, int, int]]) -> None:
        """Add (property, subject, value) edges; repeated edges are stored once."""
        self._connection.executemany(
            f"INSERT OR IGNORE INTO {self._table} (property, subject, value) VALUES (?, ?, ?)", edges
        )

    def selected_and_excluded(self, scope: Scope, named: Iterable[int]) -> tuple[IdSet, IdSet]:
        """(entities selected by id, name, class and steps; entities excluded by class)."""
        run = self._connection.execute
        asked = numbers_of_valid_ids(scope.ids | scope.also)
        for number in named:
            asked.add(number)  # an entity with a selected name is taken even if its class is excluded
        chosen, excluded = IdSet(asked), IdSet()
        if scope.classes or scope.excluded:
            database, _, table = self._table.rpartition(".")
            run(
                f"CREATE INDEX IF NOT EXISTS {database}.backward ON {table} (property, value, subject)"
                f" WHERE property = {INSTANCE_OF} OR property = {SUBCLASS_OF}"  # SQLite does not take IN for this
            )
            excluded = IdSet(
                number
                for number in self._transitive_instances(numbers_of_valid_ids(scope.excluded))
                if number not in asked
            )
            for number in self._transitive_instances(numbers_of_valid_ids(scope.classes)):
                if number not in excluded:
                    chosen.add(number)
        if scope.hops:
            along = sorted(int(prop[1:]) for prop in scope.along)
            chosen = self._entities_within(chosen, along, scope.hops, scope.hub_limit, excluded)
        return chosen, excluded

    def classes_without_members(self, classes: Iterable[str]) -> list[str]:
        """The ids among `classes`, sorted, that no entity of the source has as its class or direct superclass."""
        led = f"SELECT 1 FROM {self._table} WHERE property IN ({INSTANCE_OF}, {SUBCLASS_OF}) AND value = ?"
        return [
            class_id
            for class_id in sorted(classes)
            if self._connection.execute(led, (signed_number(class_id),)).fetchone() is None
        ]

    def _transitive_instances(self, classes: Iterable[int]) -> Iterator[int]:
        """The instances of `classes` and of their subclasses at any depth; an entity may be repeated."""
        run = self._connection.execute
        run("CREATE TEMP TABLE IF NOT EXISTS class (id INTEGER PRIMARY KEY)")  # there may be millions below one
        run("DELETE FROM temp.class")  # of the call before: first come the excluded classes
        self._connection.executemany("INSERT OR IGNORE INTO temp.class VALUES (?)", [(number,) for number in classes])
        run(
            "INSERT OR IGNORE INTO temp.class WITH RECURSIVE below(id) AS ("
            f" SELECT id FROM temp.class UNION SELECT edge.subject FROM below CROSS JOIN {self._table} AS edge"
            f" ON edge.property = {SUBCLASS_OF} AND edge.value = below.id) SELECT id FROM below"
        )
        rows = run(  # the classes first: each is looked up, the edges are not gone through
            f"SELECT edge.subject FROM temp.class CROSS JOIN {self._table} AS edge"
            f" ON edge.property = {INSTANCE_OF} AND edge.value = class.id"
        )
        for (number,) in rows:
            yield number

    def _entities_within(
        self, start: IdSet, properties: list[int], hops: int, hub_limit: int | None, excluded: IdSet
    ) -> IdSet:
        """The entities within `hops` steps of `start`, including `start`."""
        run = self._connection.execute
        reached = IdSet(start)
        layer = start
        followed = ", ".join(map(str, properties))
        values = f"SELECT DISTINCT value FROM {self._table} WHERE subject = ? AND property IN ({followed})"
        for _ in range(hops):
            following = IdSet()
            for number in layer:
                targets = [value for (value,) in run(values, (number,))]
                if hub_limit is not None and len(targets) > hub_limit:
                    continue
                for value in targets:
                    if value not in excluded and reached.add(value):
                        following.add(value)
            if not following:  # nothing new in this step, so nothing in later ones
                break
            layer = following
        return reached
