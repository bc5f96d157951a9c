"""Finds pieces of evidence for a text: among the item's own, and in files of passages, by words or by vectors."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field

from abstraction.errors import RowError
from abstraction.files.records import read_records
from abstraction.files.row_models import RowModel, read_each, without_rejected
from abstraction.models.text_scorers import EmbeddedText, EmbeddingModel
from granola.errors import UsageError
from granola.evidence.knowledge.knowledge_items import KnowledgeItem
from kg.base.packages import install_hint

PIECES = 10  # pieces of evidence per sentence, by default
_BLOCK = 512  # passages embedded at a time: full batches of the model, without all vectors twice in memory


class EvidenceSource(Protocol):
    """A source of evidence; its pieces depend on `identity` and the sentence only."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identity: kind of index, hash of the passages, and model."""

    def pieces(self, sentences: Sequence[str], most: int) -> list[list[str]]:
        """For each sentence up to `most` pieces, best first."""


class _Passage(RowModel):
    text: str = Field(description="a text")
    title: str | None = None


def read_passages(path: Path | str) -> list[str]:
    """The passages of a file: the "text" of each record, after its "title" where it has one; in a .txt file one per
    line.

    Empty ones are left out. Raises RowError for a record without a text, and for a file without any passage.
    """
    if str(path).endswith(".txt"):
        texts = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    else:
        rows = without_rejected(read_each(read_records(path), _Passage.of), None)
        texts = [f"{row.title}. {row.text}" if row.title else row.text for row in rows]
    if not any(texts):
        raise RowError(f"{path}: no passage in it")
    return [text for text in texts if text.strip()]


def _sha256(texts: Sequence[str]) -> str:
    """The hex SHA-256 of all passages, in order."""
    # A separator that no text contains: ["ab"] and ["a", "b"] must differ.
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


class WordIndex:
    """Finds passages by their words: BM25 (Robertson and Zaragoza 2009) as implemented in `bm25s`, with k1 1.5 and b
    0.75.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Raises UsageError where bm25s is missing."""
        try:
            import bm25s
        except ImportError as error:
            raise UsageError(f"passages found by words need bm25s: {install_hint('evidence')}") from error
        self._texts = texts
        self.identity: Mapping[str, Any] = {"kind": "bm25", "passages": _sha256(texts)}
        self._words: Any = bm25s.tokenization.Tokenizer(stopwords="en")
        self._index: Any = bm25s.BM25(k1=1.5, b=0.75)
        logging.getLogger("bm25s").setLevel(logging.ERROR)
        self._index.index(self._words.tokenize(texts, show_progress=False), show_progress=False)

    def pieces(self, sentences: Sequence[str], most: int) -> list[list[str]]:
        """See `EvidenceSource.pieces`. A passage that shares no word with a sentence is no piece of it."""
        pieces: list[list[str]] = [[] for _ in sentences]
        asked = self._words.tokenize(list(sentences), update_vocab=False, show_progress=False) if sentences else []
        # bm25s cannot search for a sentence whose words occur in no passage.
        known = [at for at, words in enumerate(asked) if len(words)]
        if known:
            most = min(most, len(self._texts))
            places, scores = self._index.retrieve([asked[at] for at in known], k=most, show_progress=False)
            for at, own, score in zip(known, places.tolist(), scores.tolist(), strict=True):
                # Equal scores by place, so that a tie gives the same pieces everywhere.
                ranked = sorted((-one, place) for one, place in zip(score, own, strict=True) if one > 0)
                pieces[at] = [self._texts[place] for _, place in ranked]
        return pieces


class VectorIndex:
    """Finds passages by the cosine of their vectors, compared with every passage."""

    def __init__(self, texts: Sequence[str], model: EmbeddingModel) -> None:
        import numpy as np

        self._texts, self._model = texts, model
        self.identity: Mapping[str, Any] = {
            "kind": "vectors", "passages": _sha256(texts), "model": dict(model.identity)
        }  # fmt: skip
        blocks = (texts[at : at + _BLOCK] for at in range(0, len(texts), _BLOCK))
        rows = [vector for block in blocks for vector in model.scores([EmbeddedText(text) for text in block])]
        self._vectors = np.array(rows, dtype=np.float32)

    def pieces(self, sentences: Sequence[str], most: int) -> list[list[str]]:
        """See `EvidenceSource.pieces`. The nearest passages, however far from the sentence."""
        import numpy as np

        if not sentences:
            return []
        vectors = self._model.scores([EmbeddedText(sentence, query=True) for sentence in sentences])
        near = np.array(vectors, dtype=np.float32) @ self._vectors.T
        # A stable sort keeps ties in the order of the file.
        order = np.argsort(-near, axis=1, kind="stable")[:, :most]
        return [[self._texts[place] for place in row] for row in order.tolist()]


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemPieces:
    """All evidence for an item: with `reference` the right knowledge, then its own `evidence`, then pieces from
    `sources`.
    """

    reference: bool = False
    sources: tuple[EvidenceSource, ...] = ()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Whether the reference is a piece, and the identities of the sources."""
        own = {"kind": "own", "reference": self.reference}
        return own if not self.sources else own | {"sources": [dict(one.identity) for one in self.sources]}

    def pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """For each sentence up to `most` pieces, each once, in the order of the class."""
        references = [item.reference] if self.reference and item.reference.strip() else []
        found = [source.pieces(sentences, most) for source in self.sources]
        return [
            list(dict.fromkeys([*references, *item.evidence, *(piece for own in found for piece in own[at])]))[:most]
            for at in range(len(sentences))
        ]
