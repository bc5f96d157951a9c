"""Log-probabilities of a text's tokens, behind a prompt or alone, whichever causal language model gives them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

LEAST = -1e30  # instead of the logarithm of 0, so that sums and files keep numbers


@dataclass(frozen=True, slots=True)
class Continuation:
    """A text and what stands before it; the two are joined as they are, so that a space between them is part of one.

    A token belongs to the text when it ends behind the prompt: one that reaches over the boundary is the text's.
    """

    prompt: str
    text: str


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Natural logarithms of the probability of each of a text's tokens given all before it, each at most 0.

    A model may fail to give a number, as 16-bit floats do that run over: such a token is NaN, and so is what is made
    of it.
    """

    logprobs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean, NaN where there is no token."""
        return math.fsum(self.logprobs) / len(self.logprobs) if self.logprobs else math.nan

    @property
    def geometric_mean(self) -> float:
        """The geometric mean probability of a token, 1 / PPL, in [0, 1]; NaN where there is no token."""
        return math.exp(self.mean) if self.logprobs else math.nan

    @property
    def bits(self) -> float:
        """The surprisal of the whole text in bits, 0 or more."""
        return -math.fsum(self.logprobs) / math.log(2)


class ContinuationModel(Protocol):
    """Scores texts token by token; `identity` as in `granola.text_models.text_entailment.EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """The tokens of each text, in their order; none for an empty text. Raises ModelError."""
