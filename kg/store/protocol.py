"""The Store protocol: read access to a snapshot, the same for every backend.

Contract for every backend
    Batch first: each read takes many ids and costs one round trip per batch, not one per id.
    Order: mappings are keyed by the given ids or names, in the given order; lists inside are ordered
        as each method states.
    Unknown ids are absent from a mapping, never an error; a malformed id is simply unknown.
    Redirects: a given id that was merged into another is a key of the result with the target's content
        (whose own `.id` is the target's).
    Isolation: a reader sees the snapshot as it was when opened. Stores are not thread-safe;
        open one per thread or process.
    Errors: `SnapshotError` where the backend is damaged or of a newer schema; nothing else on purpose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from kg.base.model import Entity


@dataclass(frozen=True, kw_only=True, slots=True)
class NameMatch:
    """An entity that carries a name: by its label or by an alias, in which language, as written there."""

    id: str
    kind: Literal["label", "alias"]
    language: str
    text: str


class Store(Protocol):
    """Read access to a snapshot. See the contract in the module's docstring."""

    def entities(
        self,
        ids: Collection[str],
        *,
        languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:
        """Entities with their terms in `languages` (None: all) and statements of `properties` (None: all).

        Statements keep all ranks: property number ascending, then the source's order. An empty
        `properties` reads no statement at all.
        """
        ...

    def find(self, names: Collection[str], *, languages: Collection[str] | None = None) -> dict[str, list[NameMatch]]:
        """Entities whose label or alias equals a name after `kg.base.model.normalise`, keyed by the given name.

        One match per entity: its label rather than an alias, then the first language in code order. Labels before
        aliases, then by id number, items first. Names that no entity has are absent.
        """
        ...

    def referrers(
        self, pairs: Collection[tuple[str, str]], *, limit: int | None = None
    ) -> dict[tuple[str, str], list[str]]:
        """For each pair (property, target id), the ids of entities that have this statement with a rank other than
        deprecated.

        Each list is ordered by number, items before properties, as `Store.ids` is. `limit` is the most ids in a list:
        (P31, Q5) has millions.
        """
        ...

    def value_counts(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """For each pair (property, target id), the number of entities of the *whole source* with this statement, not
        deprecated.

        The selection of the snapshot does not matter. Pairs that no entity has are absent.
        """
        ...

    def property_counts(self, properties: Collection[str]) -> dict[str, int]:
        """For each property, the number of entities of the whole source that have it; deprecated and "no value" do not
        count.
        """
        ...

    def values_of(self, prop: str, *, limit: int | None = None) -> list[tuple[str, int]]:
        """The targets of a property with their whole-source counts: most frequent first, then by id."""
        ...

    def ids(self) -> Iterator[str]:
        """All ids: items by number, then properties by number."""
        ...

    def descriptions(self, languages: Sequence[str]) -> Iterator[str]:
        """One description of each item, in the first of `languages` that it has one in; items by number, those without
        left out.
        """
        ...

    def manifest(self) -> Mapping[str, Any]:
        """The source and settings of the snapshot; `snapshot_id` and `counts` are always present."""
        ...

    def close(self) -> None:
        """Release the store's resources. Reading afterwards is an error; closing twice is not."""
        ...
