"""Where pieces of evidence for a text come from: passages of one's own, statements of a snapshot, the item itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field

from abstraction.errors import RowError
from abstraction.files.records import read_records
from abstraction.files.row_models import RowModel
from abstraction.files.row_reading import accepted, read_each
from abstraction.models.text_scorers import EmbeddedText, EmbeddingModel
from granola.attribution.fact_sentences import described, value_words
from granola.attribution.fact_wording import sentence_of
from granola.errors import UsageError
from granola.knowledge.knowledge_items import KnowledgeItem
from kg.extras import install_hint
from kg.model import Entity, EntityValue
from kg.store.protocol import Store
from kg.terms import best_text

BM25_NEEDED = f"passages found by words need bm25s: {install_hint('evidence')}"
PIECES = 10
_BLOCK = 512  # passages that are embedded at a time


class EvidenceSource(Protocol):
    """Finds pieces of evidence; `identity` is what its answers depend on besides the question."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this source from every other."""

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """For each sentence up to `most` pieces, best first."""


def read_passages(path: Path | str) -> list[str]:
    """The "text" of each record, after its "title" where it has one; a file of lines has one passage on each.

    Raises RowError for a record without a text, and where there is none at all.
    """
    if str(path).endswith(".txt"):
        texts = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    else:
        rows = accepted(read_each(read_records(path), _IndexedText.of), None)
        texts = [f"{row.title}. {row.text}" if row.title else row.text for row in rows]
    if not any(texts):
        raise RowError(f"{path}: no passage in it")
    return texts


class _IndexedText(RowModel):
    text: str = Field(description="a text")
    title: str | None = None


class _IndexedTexts:
    """Texts to look evidence up in, without the empty ones; `sha256` is of all of them in order."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = [text for text in texts if text.strip()]
        self.sha256 = hashlib.sha256("\0".join(self.texts).encode()).hexdigest()


class WordIndex:
    """Passages found by their words: BM25 (Robertson and Zaragoza 2009) as `bm25s` has it, k1 1.5 and b 0.75."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Raises UsageError where bm25s is missing."""
        try:
            import bm25s
        except ImportError as error:
            raise UsageError(BM25_NEEDED) from error
        self._passages = _IndexedTexts(texts)
        self._words: Any = bm25s.tokenization.Tokenizer(stopwords="en")
        self._index: Any = bm25s.BM25(k1=1.5, b=0.75)
        with quietly():
            self._index.index(self._words.tokenize(self._passages.texts, show_progress=False), show_progress=False)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The passages."""
        return {"kind": "bm25", "passages": self._passages.sha256}

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """By the sentence alone; a passage that shares no word with it is no piece."""
        if not sentences:
            return []
        most = min(most, len(self._passages.texts))
        with quietly():
            asked = self._words.tokenize(list(sentences), update_vocab=False, show_progress=False)
            # A sentence without a word that the passages have would be an empty question.
            known = [at for at, words in enumerate(asked) if len(words)]
            pieces: list[list[str]] = [[] for _ in sentences]
            if known:
                places, scores = self._index.retrieve([asked[at] for at in known], k=most, show_progress=False)
                for row, at in enumerate(known):
                    hits = zip(places[row].tolist(), scores[row].tolist(), strict=True)
                    ranked = sorted(((-score, place) for place, score in hits if score > 0))
                    pieces[at] = [self._passages.texts[place] for _, place in ranked]
        return pieces


class VectorIndex:
    """Passages found by the angle of their vectors, compared with all of them."""

    def __init__(self, texts: Iterable[str], model: EmbeddingModel) -> None:
        import numpy as np

        self._passages = _IndexedTexts(texts)
        self._model = model
        rows = [
            vector
            for at in range(0, len(self._passages.texts), _BLOCK)
            for vector in model.scores([EmbeddedText(text) for text in self._passages.texts[at : at + _BLOCK]])
        ]
        self._vectors = np.array(rows, dtype=np.float32)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The passages and the model."""
        return {"kind": "vectors", "passages": self._passages.sha256, "model": dict(self._model.identity)}

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """By the sentence alone."""
        import numpy as np

        if not sentences:
            return []
        vectors = self._model.scores([EmbeddedText(sentence, query=True) for sentence in sentences])
        asked = np.array(vectors, dtype=np.float32)
        near = asked @ self._vectors.T
        order = np.argsort(-near, axis=1, kind="stable")[:, :most]
        return [[self._passages.texts[place] for place in row] for row in order.tolist()]


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemPieces:
    """What an item brings itself, before it the right knowledge where `reference` says so; then what `sources` find."""

    reference: bool = False
    sources: tuple[EvidenceSource, ...] = ()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Whether the reference counts, and those of the sources."""
        own = {"kind": "own", "reference": self.reference}
        if not self.sources:
            return own
        return {"kind": "joined", "sources": [own, *(dict(one.identity) for one in self.sources)]}

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """Each once, `most` of all together."""
        references = [item.reference] if self.reference and item.reference.strip() else []
        found = [source.pieces(item, sentences, most) for source in self.sources]
        return [
            list(dict.fromkeys([*references, *item.evidence, *(piece for own in found for piece in own[at])]))[:most]
            for at in range(len(sentences))
        ]


@contextmanager
def quietly() -> Any:
    """Without the library's own lines in the log."""
    import logging

    logger = logging.getLogger("bm25s")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


# A snapshot's statements about an item's topic, in words, as pieces of evidence.

_ENTITIES = 3  # that carry the topic's name: which one is meant is not known
_STATEMENTS = 400  # of an entity


class StatementPieces:
    """The statements of the entities that are called as the topic is, those that share words with a sentence first.

    A statement is a sentence of subject, property and value by their English labels; a description is one too.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._index = lru_cache(maxsize=1_000)(self._index_of)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The snapshot."""
        return {"kind": "statements", "snapshot": self._store.manifest()["snapshot_id"]}

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """None where the item has no topic, or the snapshot nothing of that name."""
        index = self._index(item.topic.strip())
        return [[] for _ in sentences] if index is None else index.pieces(item, sentences, most)

    def _index_of(self, topic: str) -> WordIndex | None:
        texts = self.sentences_about(topic) if topic else []
        return WordIndex(texts) if texts else None

    def sentences_about(self, topic: str) -> list[str]:
        """The statements and descriptions of the entities of that name, as sentences."""
        matches = self._store.find([topic], languages=LANGUAGES).get(topic, [])
        entities = self._store.entities([match.id for match in matches if match.id.startswith("Q")][:_ENTITIES])
        told = [statement for entity in entities.values() for statement in entity.statements[:_STATEMENTS]]
        values = [one.value.id for one in told if isinstance(one.value, EntityValue)]
        named_ids = list(dict.fromkeys([*(one.property for one in told), *values]))
        labelled = self._store.entities(named_ids, languages=LANGUAGES, properties=())
        named = {id_: _label(entity) for id_, entity in labelled.items()}
        return [line for entity in entities.values() for line in _lines(entity, named)]


LANGUAGES = ("en", "mul")


def _label(entity: Entity) -> str:
    label = best_text(entity.labels, LANGUAGES[0])
    return label[0] if label else entity.id


def _lines(entity: Entity, named: Mapping[str, str]) -> list[str]:
    subject = _label(entity)
    description = entity.descriptions.get(LANGUAGES[0])
    lines = [described(subject, description)] if description else []
    for statement in entity.statements[:_STATEMENTS]:
        value = value_words(statement.value, named)
        if value and statement.rank != "deprecated" and statement.property in named:
            lines.append(sentence_of(statement.property, subject, named[statement.property], value))
    return lines
