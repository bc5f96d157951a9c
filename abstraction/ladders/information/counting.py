"""Whole-source counts from one store, and hierarchies of values with the counts of everything below each."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from abstraction.base.classes import stop_classes
from kg.graph.ranks import current
from kg.store.protocol import Store

VALUES = 300_000  # most frequent values of one property that are counted
SEVERAL = 1.2  # mean values per entity; above it values of a property overlap too often to be summed
_BATCH = 20_000  # entities read from the store at once
MOST = 1_000_000  # pairs whose counts are kept: 200 MB at most

Pair = tuple[str, str]


class ValueCounts:
    """The number of entities in the source with a (property, value) pair or a property, each read once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._pairs: dict[Pair, int] = {}
        self._totals: dict[str, int] = {}

    def read(self, pairs: Iterable[Pair]) -> None:
        """Read the counts of many pairs from the store at once, before `of` is called."""
        asked = dict.fromkeys(pairs)
        missing = [pair for pair in asked if pair not in self._pairs]
        if len(self._pairs) + len(missing) > MOST:
            self._pairs.clear()  # all at once: pairs of one question are read together
            missing = list(asked)
        if missing:
            counts = self.store.value_counts(missing)
            self._pairs.update((pair, counts.get(pair, 0)) for pair in missing)

    def of(self, prop: str, value: str) -> int:
        """The number of entities with (property, value); 0 where there are none."""
        self.read([(prop, value)])
        return self._pairs[prop, value]

    def total(self, prop: str) -> int:
        """The number of entities with the property."""
        if prop not in self._totals:
            self._totals[prop] = self.store.property_counts([prop]).get(prop, 0)
        return self._totals[prop]


class Hierarchy:
    """Values of the properties `counted`, ordered by current statements of the properties `up`.

    A set of values covers the statements of the whole source that give any of them, each counted once, however many
    paths lead up from it; cycles are cut. Values that the snapshot lacks have no known place in the hierarchy, so
    counts below a value are lower bounds. Stop classes are left out and not passed.
    """

    def __init__(self, counts: ValueCounts, counted: Sequence[str], up: Sequence[str]) -> None:
        self._counts = counts
        self._counted = tuple(counted)
        self._up = tuple(up)
        self._masses: dict[str, int] = {}
        self._shares: dict[str, float | None] = {}

    @cached_property
    def direct(self) -> Mapping[str, int]:
        """The number of statements by value, for the value itself without those below it."""
        counts: dict[str, int] = defaultdict(int)
        for prop in self._counted:
            for value, count in self._counts.store.values_of(prop, limit=VALUES):
                counts[value] += count
        return counts

    @cached_property
    def statements(self) -> int:
        """The number of statements of the counted properties."""
        return sum(self.direct.values())

    @cached_property
    def entities(self) -> int:
        """The number of entities with a counted property; an entity with two of them counts twice."""
        return sum(self._counts.total(prop) for prop in self._counted)

    @cached_property
    def _below(self) -> Mapping[str, tuple[str, ...]]:
        """The values directly below each value, read upwards from all values in layers."""
        below: dict[str, list[str]] = defaultdict(list)
        stop = stop_classes()
        seen = set(self.direct)
        layer = sorted(seen)
        while layer:
            upward: dict[str, None] = {}
            for at in range(0, len(layer), _BATCH):
                read = self._counts.store.entities(layer[at : at + _BATCH], languages=(), properties=self._up)
                for qid, entity in read.items():
                    for prop in self._up:
                        for statement in current(entity.values(prop)):
                            target = statement.target
                            if target and target != qid and target not in stop:
                                below[target].append(qid)
                                upward[target] = None
            layer = [qid for qid in upward if qid not in seen]
            seen.update(layer)
        return {value: tuple(lower) for value, lower in below.items()}

    def at_or_below(self, values: Iterable[str], *, but: Collection[str] = ()) -> set[str]:
        """The values and all below them, except `but` and values that only those lead to."""
        reached = set(values)
        stack = list(reached)
        while stack:
            for lower in self._below.get(stack.pop(), ()):
                if lower not in reached and lower not in but:
                    reached.add(lower)
                    stack.append(lower)
        return reached

    def mass(self, value: str) -> int:
        """The number of statements that give the value or one below it."""
        if value not in self._masses:
            self._masses[value] = sum(self.direct.get(lower, 0) for lower in self.at_or_below([value]))
        return self._masses[value]

    def share(self, value: str) -> float | None:
        """The share of the entities with a counted property that have the value or one below it; None for none.

        With about one value per entity the counts are summed. Where entities have several, as with occupations, a sum
        would count them repeatedly: the values are then taken as independent, 1 - prod(1 - n/N), which lies between
        the largest share and the sum.
        """
        if value not in self._shares:
            self._shares[value] = self._share(value)
        return self._shares[value]

    def _share(self, value: str) -> float | None:
        if not self.mass(value):
            return None
        if self.statements <= SEVERAL * self.entities:
            return self.mass(value) / self.statements
        without = 0.0
        for lower in sorted(self.at_or_below([value])):  # in a fixed order floats add up to the same sum
            count = self.direct.get(lower, 0)
            if count >= self.entities:
                return 1.0
            without += math.log1p(-count / self.entities)  # logarithms keep the precision of small shares
        return -math.expm1(without)
