"""A record of the names and ids that making ladders looks up in a snapshot, so that a selection can include them all.

A ladder reads names in descriptions ("city in Thuringia, Germany"), distinguishes containers from their namesakes, and
leaves out tiers that most answers to a question share: a selection that lacks any of these entities gives other
ladders than the whole of WikiData.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from abstraction.files.rows import QARow
from abstraction.maker.pipeline import LadderMakers
from abstraction.text.questions.question_wording import read_relation_wording
from kg.base.model import ENTITY_ID, Entity
from kg.store.protocol import NameMatch, Store


def record_ladder_lookups(rows: Iterable[QARow], store: Store, *, language: str = "en") -> RecordingStore:
    """Make the ladders of the rows, and return the store that recorded the names and ids looked up for them. Rows at
    which the program fails are skipped.
    """
    recording = RecordingStore(store)
    makers = LadderMakers(recording, language=language)  # type: ignore[arg-type]  # it has every method that makers call
    for _ in makers.make_all(rows, on_reject=lambda _: None):
        pass
    return recording


def relations_asked_for(rows: Iterable[QARow]) -> set[str]:
    """The relations of questions, given or read from their wording."""
    relations = {row.relation or read_relation_wording(row.question).relation for row in rows}
    return {relation for relation in relations if relation is not None}


class RecordingStore:
    """A store that records the `names` looked up in it, and the `missing_ids`: looked-up ids that it does not contain.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.names: set[str] = set()
        self.missing_ids: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def entities(
        self, ids: Collection[str], *, languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:  # fmt: skip
        """See `Store.entities`."""
        listed = list(ids)
        entities = self._store.entities(listed, languages=languages, properties=properties)
        self.missing_ids.update(id_ for id_ in listed if id_ not in entities and ENTITY_ID.match(id_))
        return entities

    def find(
        self, names: Collection[str], *, languages: Collection[str] | None = None
    ) -> Mapping[str, list[NameMatch]]:
        """See `Store.find`."""
        listed = list(names)
        self.names.update(listed)
        return self._store.find(listed, languages=languages)
