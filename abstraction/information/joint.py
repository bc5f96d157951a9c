"""How conditions go together, counted where the snapshot holds every carrier of one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from abstraction.information.counting import Pair, ValueCounts
from kg.bounded_cache import SizedDict
from kg.walks.ranks import stated

MOST = 1_000  # carriers of the condition that the others are counted among
KEPT = 400_000  # carriers, and sets of their values, that are kept: 80 MB each at most
FEWEST = 5  # of them with a statement of the other property


class Joint:
    """Shares among the carriers of a condition: exact, since all carriers that the whole source has are at hand."""

    def __init__(self, counts: ValueCounts) -> None:
        self._counts = counts
        self._carriers: SizedDict[frozenset[Pair], tuple[str, ...]] = SizedDict(
            KEPT, lambda pairs, carriers: 5 * len(pairs) + len(carriers)
        )
        self._values: SizedDict[tuple[frozenset[Pair], str], tuple[int, Mapping[frozenset[str], int]]] = SizedDict(
            KEPT, lambda key, counted: 5 * len(key[0]) + 5 * len(counted[1])
        )

    def share(self, base: frozenset[Pair], prop: str, values: Collection[str]) -> float | None:
        """The share of the entities with any pair of `base`, of those with `prop`, whose `prop` is one of the values.

        None where the base has more than `MOST` carriers, the snapshot lacks one of them, fewer than `FEWEST` have the
        property, or none has such a value.
        """
        carriers = self._carriers_of(base)
        if not carriers:
            return None
        key = (base, prop)
        if key not in self._values:
            read = self._counts.store.entities(carriers, languages=(), properties=(prop,))
            sets = (frozenset(s.target for s in stated(entity.values(prop)) if s.target) for entity in read.values())
            counted = Counter(held for held in sets if held)
            self._values[key] = counted.total(), counted
        total, sets_counted = self._values[key]
        hits = sum(count for held, count in sets_counted.items() if not held.isdisjoint(values))
        return hits / total if hits and total >= FEWEST else None

    def _carriers_of(self, base: frozenset[Pair]) -> tuple[str, ...]:
        """All carriers of the base, by the order of its pairs; none where not all are known."""
        if base not in self._carriers:
            pairs = sorted(base)
            self._counts.read(pairs)
            counts = {pair: self._counts.of(*pair) for pair in pairs}
            carriers: dict[str, None] = {}
            if sum(counts.values()) <= MOST:
                held = self._counts.store.referrers(pairs, limit=MOST + 1)
                if all(len(held.get(pair, ())) == count for pair, count in counts.items()):
                    carriers = dict.fromkeys(carrier for pair in pairs for carrier in held.get(pair, ()))
            self._carriers[base] = tuple(carriers)
        return self._carriers[base]
