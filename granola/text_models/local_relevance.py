"""Relevance by any cross-encoder that `transformers` loads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from abstraction.errors import ModelError
from granola.text_models.local_entailment import softmax
from granola.text_models.local_weights import LocalWeights, WeightSettings
from granola.text_models.relevance import QueryPassage


class LocalRelevance:
    """Query and passage as one pair, in this order, under a head of sequence classification.

    One output: its sigmoid. Two outputs, as rerankers of MS MARCO have: the probability of the second. A pair that is
    too long loses the passage's end; where the query alone takes more than half of the room, the longer of the two
    loses its end until both fit.
    """

    def __init__(self, place: Path | str, *, settings: WeightSettings | None = None) -> None:
        """Raises ModelError for a place without a model, and for one with more than two outputs."""
        self._weights = LocalWeights(place, head="AutoModelForSequenceClassification", settings=settings)
        check_outputs_of(self._weights, most=2, what="a reranker")

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights."""
        return {**self._weights.identity, "score": "relevance"}

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """As `RelevanceModel.relevances`."""
        logits = self._weights.pair_logits([(pair.query, pair.passage) for pair in pairs], cut="second")
        return [share_of(row) for row in logits]

    def close(self) -> None:
        """Release the weights."""
        self._weights.close()


def check_outputs_of(weights: LocalWeights, *, most: int, what: str) -> None:
    """Raise ModelError for a head with more outputs."""
    outputs = weights.config.num_labels
    if outputs > most:
        raise ModelError(f"local:{weights.place} has {outputs} outputs; {what} has {' or '.join('12'[:most])}")


def sigmoid(logit: float) -> float:
    """1 / (1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1.0 + power)


def share_of(logits: Sequence[float]) -> float:
    """The sigmoid of a single logit, else the probability of the last."""
    return sigmoid(logits[0]) if len(logits) == 1 else softmax(logits)[-1]
