"""A snapshot's statements about an item's topic, in words, as pieces of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from granola.knowledge.evidence_pieces import WordIndex, passages_of
from granola.knowledge.knowledge_items import KnowledgeItem
from kg.model import Entity, EntityValue, QuantityValue, TextValue, TimeValue
from kg.store.protocol import Store
from kg.terms import best_text

MONTHS = ("", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
_ENTITIES = 3  # that carry the topic's name: which one is meant is not known
_STATEMENTS = 400  # of an entity


class StatementPieces:
    """The statements of the entities that are called as the topic is, those that share words with a sentence first.

    A statement is a sentence of subject, property and value by their English labels; a description is one too.
    """

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self._store = store
        self._language = language
        self._indices: dict[str, WordIndex | None] = {}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The snapshot."""
        return {"kind": "statements", "snapshot": self._store.manifest()["snapshot_id"], "language": self._language}

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """None where the item has no topic, or the snapshot nothing of that name."""
        index = self._index(item.topic.strip())
        return [[] for _ in sentences] if index is None else index.pieces(item, sentences, most)

    def _index(self, topic: str) -> WordIndex | None:
        if topic not in self._indices:
            if len(self._indices) > 1000:
                self._indices.clear()
            texts = self.sentences_about(topic) if topic else []
            self._indices[topic] = WordIndex(passages_of(texts)) if texts else None
        return self._indices[topic]

    def sentences_about(self, topic: str) -> list[str]:
        """The statements and descriptions of the entities of that name, as sentences."""
        matches = self._store.find([topic], languages=[self._language, "mul"]).get(topic, [])
        ids = [match.id for match in matches if match.id.startswith("Q")][:_ENTITIES]
        entities = self._store.entities(ids)
        ids_in_words: dict[str, None] = {}
        for entity in entities.values():
            for statement in entity.statements[:_STATEMENTS]:
                ids_in_words[statement.property] = None
                if isinstance(statement.value, EntityValue):
                    ids_in_words[statement.value.id] = None
        labelled = self._store.entities(list(ids_in_words), languages=[self._language, "mul"], properties=())
        named = {id_: self._label(entity) for id_, entity in labelled.items()}
        return [line for entity in entities.values() for line in self._lines(entity, named)]

    def _label(self, entity: Entity) -> str:
        label = best_text(entity.labels, self._language)
        return label[0] if label else entity.id

    def _lines(self, entity: Entity, named: Mapping[str, str]) -> list[str]:
        subject = self._label(entity)
        description = entity.descriptions.get(self._language)
        lines = [f"{subject} is {description}."] if description else []
        for statement in entity.statements[:_STATEMENTS]:
            value = in_words(statement.value, named)
            if value and statement.rank != "deprecated" and statement.property in named:
                lines.append(f"{subject}: {named[statement.property]} is {value}.")
        return lines


def in_words(value: object, named: Mapping[str, str]) -> str:
    """A statement's value as a reader says it; empty for one that has no words here."""
    if isinstance(value, EntityValue):
        return named.get(value.id, "")
    if isinstance(value, TimeValue):
        year = str(value.year) if value.year > 0 else f"{-value.year} BC"
        month = MONTHS[value.month] if value.month else ""
        return " ".join(part for part in (month, f"{value.day}," if value.day else "", year) if part)
    if isinstance(value, QuantityValue):
        unit = named.get(value.unit or "", "")
        return f"{value.amount} {unit}".strip()
    return value.text if isinstance(value, TextValue) else ""
