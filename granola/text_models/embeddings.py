"""Texts as vectors: near where they mean alike. By local weights or a server."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from granola.text_models.local_weights import LocalWeights, WeightSettings

Pooling = Literal["mean", "first"]


class EmbeddingModel(Protocol):
    """Embeds texts; `identity` as in `granola.text_models.text_entailment.EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """A vector of length 1 for each text, in their order; `query` where texts are looked for with, not among."""


class LocalEmbeddings:
    """The last layer's vectors, their `mean` over a text's tokens or the `first`; a text too long loses its end.

    `query_prefix` and `passage_prefix` are what some checkpoints were trained to see before texts.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: WeightSettings | None = None,
        pooling: Pooling = "mean",
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, head="AutoModel", settings=settings)
        self._pooling = pooling
        self._prefixes = passage_prefix, query_prefix

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights, the pooling and the prefixes."""
        return {**self._weights.identity, "pooling": self._pooling, "prefixes": list(self._prefixes)}

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """As `EmbeddingModel.embeddings`."""
        tokenizer, model = self._weights.tokenizer, self._weights.model
        encoded = [
            tokenizer(self._prefixes[query] + text, truncation=True, max_length=self._weights.room) for text in texts
        ]

        def run(some: Sequence[Any]) -> list[list[float]]:
            padded = tokenizer.pad([dict(encoding) for encoding in some], padding=True, return_tensors="pt")
            padded = padded.to(self._weights.device)
            states = model(**padded).last_hidden_state.float()
            mask = padded["attention_mask"][:, :, None].to(states.dtype)
            pooled = states[:, 0] if self._pooling == "first" else (states * mask).sum(1) / mask.sum(1).clamp(min=1)
            vectors: list[list[float]] = pooled.cpu().tolist()
            return [of_length_one(vector) for vector in vectors]

        return self._weights.of_each(encoded, lambda encoding: len(encoding["input_ids"]), run)

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


def of_length_one(vector: Sequence[float]) -> list[float]:
    """The vector scaled to length 1; zeros stay."""
    length = math.sqrt(math.fsum(number * number for number in vector))
    return [number / length for number in vector] if length else list(vector)
