"""Natural language inference: what a premise says of a hypothesis, whichever model judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class TextPair:
    """What is held to be true, and what is judged by it."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Entailment:
    """Three probabilities, each in [0, 1]; they add up to 1."""

    entailed: float
    neutral: float
    refuted: float


class EntailmentModel(Protocol):
    """Judges pairs of texts.

    `identity` is all that its judgements depend on besides the pairs: what kept scores and signatures are keyed by.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def entailments(self, pairs: Sequence[TextPair]) -> list[Entailment]:
        """One judgement for each pair, in their order. Raises ModelError where the model cannot be used."""
