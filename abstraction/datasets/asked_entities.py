"""What making ladders asks a snapshot for: names and ids, there or not, so that a selection can take them in.

A ladder reads names in descriptions ("city in Thuringia, Germany"), tells containers from their namesakes, and leaves
out what is true of most answers to a question: a selection that lacks any of it makes other ladders than all of
WikiData.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from abstraction.pipeline import LadderMakers
from abstraction.questions.relation_wording import read_wording
from abstraction.rows import QARow
from kg.model import ENTITY_ID, Entity
from kg.store.protocol import NameMatch, Store


@dataclass(slots=True)
class AskedEntities:
    """Names that were looked up, and ids that the snapshot lacks."""

    names: set[str] = field(default_factory=set)
    lacking: set[str] = field(default_factory=set)


def asked_entities(rows: Iterable[QARow], store: Store, *, language: str = "en") -> AskedEntities:
    """What making the ladders of rows asks `store` for; rows with which the program is at fault are passed over."""
    watched = _WatchedStore(store)
    makers = LadderMakers(watched, language=language)  # type: ignore[arg-type]  # all of a store that makers read
    for _ in makers.make_all(rows, on_reject=lambda _: None):
        pass
    return watched.asked


def relations_of(rows: Iterable[QARow]) -> set[str]:
    """The relations that questions ask for, told or read from their wording."""
    relations = {row.relation or read_wording(row.question).relation for row in rows}
    return {relation for relation in relations if relation is not None}


class _WatchedStore:
    """A store that notes what is asked of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asked = AskedEntities()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def entities(
        self, ids: Collection[str], *, languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:  # fmt: skip
        listed = list(ids)
        entities = self._store.entities(listed, languages=languages, properties=properties)
        self.asked.lacking.update(id_ for id_ in listed if id_ not in entities and ENTITY_ID.match(id_))
        return entities

    def find(
        self, names: Collection[str], *, languages: Collection[str] | None = None
    ) -> Mapping[str, list[NameMatch]]:
        listed = list(names)
        self.asked.names.update(listed)
        return self._store.find(listed, languages=languages)
