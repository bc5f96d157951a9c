"""What scores texts, whichever model does: log-probabilities, relevance, entailment, coherence, embeddings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

# Coherence of a paragraph: do its sentences, in their order, belong together? Whichever model judges it.


class CoherenceModel(Protocol):
    """Judges paragraphs; `identity` as in `EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other, and how its scores are normalised."""

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]:
        """One score in [0, 1] for each paragraph, given as its sentences; greater is better. Raises ModelError."""


# Relevance of a passage to a query, whichever model judges it.


@dataclass(frozen=True, slots=True)
class QueryPassage:
    """What is asked, and what may tell something of it."""

    query: str
    passage: str


class RelevanceModel(Protocol):
    """Judges passages; `identity` as in `EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def relevances(self, pairs: Sequence[QueryPassage]) -> list[float]:
        """One score for each pair, in [0, 1], greater is better, in their order. Raises ModelError."""


# Natural language inference: what a premise says of a hypothesis, whichever model judges it.


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


# Texts as vectors: near where they mean alike. By local weights or a server.

Pooling = Literal["mean", "first"]


class EmbeddingModel(Protocol):
    """Embeds texts; `identity` as in `EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def embeddings(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """A vector of length 1 for each text, in their order; `query` where texts are looked for with, not among."""


def of_length_one(vector: Sequence[float]) -> list[float]:
    """The vector scaled to length 1; zeros stay."""
    length = math.sqrt(math.fsum(number * number for number in vector))
    return [number / length for number in vector] if length else list(vector)


# Log-probabilities of a text's tokens, behind a prompt or alone.


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
    """Scores texts token by token; `identity` as in `EntailmentModel`."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other."""

    def token_scores(self, given: Sequence[Continuation]) -> list[TokenScores]:
        """The tokens of each text, in their order; none for an empty text. Raises ModelError."""
