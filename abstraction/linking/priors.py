"""Numbers of uses of entities as values of a relation: the prior of which namesake is meant.

The counts are stored in the snapshot (`Store.value_counts`) and refer to the whole source, not just to the selection.
"""

from __future__ import annotations

from collections.abc import Collection

from abstraction.base.relations import Relation, table
from kg.store.protocol import Store

CAPACITY = 2_000_000  # counts that are cached


class Priors:
    """Counts of one store, cached."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[tuple[str, str], int] = {}

    def fetch(self, relation: Relation, ids: Collection[str]) -> None:
        """Fetch the counts of entities for the relation and its kin in one batch."""
        props = [*([relation.id] if relation.id else []), *kin(relation)]
        pairs = [(prop, qid) for qid in ids for prop in props if (prop, qid) not in self._counts]
        if len(self._counts) + len(pairs) > CAPACITY:
            self._counts.clear()
            pairs = [(prop, qid) for qid in ids for prop in props]
        if pairs:
            got = self._store.value_counts(pairs)
            self._counts.update((pair, got.get(pair, 0)) for pair in pairs)

    def uses(self, relation: Relation, qid: str) -> int:
        """The number of entities with `qid` as the relation's value. Needs `fetch` first."""
        return self._counts.get((relation.id, qid), 0)

    def kindred_uses(self, relation: Relation, qid: str) -> int:
        """The total number of uses for the other relations that ask for the same kind of answer. Needs `fetch` first.
        """
        return sum(self._counts.get((prop, qid), 0) for prop in kin(relation))


def kin(relation: Relation) -> tuple[str, ...]:
    """The other relations of the table that ask for the same kind of answer; empty where any kind is asked for."""
    if relation.asks == "any":
        return ()
    return tuple(row.id for row in table().values() if row.asks == relation.asks and row.id != relation.id)
