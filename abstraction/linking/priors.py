"""How often an entity is the value of a relation in the whole source: which namesake is meant as a rule.

The counts are facts of the snapshot (`Store.value_counts`), of the whole source whatever was selected from it.
"""

from __future__ import annotations

from collections.abc import Collection

from abstraction.relations import Relation, table
from kg.store.protocol import Store

CAPACITY = 2_000_000  # counts kept


class Priors:
    """Counts of one store, kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[tuple[str, str], int] = {}

    def fetch(self, relation: Relation, ids: Collection[str]) -> None:
        """Read the counts of these entities for the relation and its kin, in one batch."""
        props = [*([relation.id] if relation.id else []), *kin(relation)]
        pairs = [(prop, qid) for qid in ids for prop in props if (prop, qid) not in self._counts]
        if len(self._counts) + len(pairs) > CAPACITY:
            self._counts.clear()
            pairs = [(prop, qid) for qid in ids for prop in props]
        if pairs:
            got = self._store.value_counts(pairs)
            self._counts.update((pair, got.get(pair, 0)) for pair in pairs)

    def uses(self, relation: Relation, qid: str) -> int:
        """How many entities have it as the relation's value. To be fetched first."""
        return self._counts.get((relation.id, qid), 0)

    def kindred_uses(self, relation: Relation, qid: str) -> int:
        """The same for the other relations that ask for the same kind of thing, added up."""
        return sum(self._counts.get((prop, qid), 0) for prop in kin(relation))


def kin(relation: Relation) -> tuple[str, ...]:
    """The other relations of the table that ask for the same; none where nothing says what is asked for."""
    if relation.asks == "any":
        return ()
    return tuple(row.id for row in table().values() if row.asks == relation.asks and row.id != relation.id)
