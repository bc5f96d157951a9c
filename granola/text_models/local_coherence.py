"""Coherence of paragraphs by a checkpoint that `transformers` loads: trained for it, or for the next sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from abstraction.errors import ModelError
from granola.text_models.local_entailment import softmax
from granola.text_models.local_relevance import check_outputs_of, share_of
from granola.text_models.local_weights import LocalWeights, WeightSettings


class LocalCoherence:
    """A paragraph as one text, its sentences joined by a space, under a head of sequence classification.

    How a score comes into [0, 1] is part of its identity: one output by its sigmoid, two by the probability of the
    second; or, with `low` and `high`, one output by (x - low) / (high - low), cut off at 0 and 1. A paragraph that is
    too long loses its end.
    """

    def __init__(
        self,
        place: Path | str,
        *,
        settings: WeightSettings | None = None,
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """Raises ModelError for a place without a model, one with more than two outputs, and bounds out of order."""
        self._weights = LocalWeights(place, head="AutoModelForSequenceClassification", settings=settings)
        self._bounds = None if low is None or high is None else (low, high)
        if (low is None) != (high is None) or (low is not None and high is not None and not low < high):
            raise ModelError(f"local:{place}: low={low} and high={high}; give both, the lower one first, or none")
        check_outputs_of(self._weights, most=1 if self._bounds else 2, what="a model of coherence")

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights and the normalisation."""
        how = f"bounds {self._bounds[0]:g} {self._bounds[1]:g}" if self._bounds else "sigmoid or second of two"
        return {**self._weights.identity, "score": "coherence", "normalised": how}

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As `CoherenceModel.coherences`."""
        logits = self._weights.text_logits([" ".join(sentences) for sentences in paragraphs])
        return [self._normalised(own) for own in logits]

    def _normalised(self, logits: Sequence[float]) -> float:
        if self._bounds is None:
            return share_of(logits)
        low, high = self._bounds
        return min(1.0, max(0.0, (logits[0] - low) / (high - low)))

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


class LocalNextSentences:
    """The mean, over neighbouring sentences, of the probability that the second follows the first.

    For checkpoints with a head for that, as BERT has. A paragraph of one sentence, or none, has no neighbours: 1.
    """

    def __init__(self, place: Path | str, *, settings: WeightSettings | None = None) -> None:
        """Raises ModelError for a place without a model."""
        self._weights = LocalWeights(place, head="AutoModelForNextSentencePrediction", settings=settings)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights."""
        return {**self._weights.identity, "score": "coherence", "normalised": "mean probability of the next sentence"}

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """As `CoherenceModel.coherences`."""
        pairs = [pair for sentences in paragraphs for pair in pairwise(sentences)]
        shares = iter([softmax(row)[0] for row in self._weights.pair_logits(pairs)])  # the first output means "follows"
        coherences = []
        for sentences in paragraphs:
            pair_shares = [next(shares) for _ in sentences[1:]]
            coherences.append(math.fsum(pair_shares) / len(pair_shares) if pair_shares else 1.0)
        return coherences

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()
