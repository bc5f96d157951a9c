"""Scorers of texts: log-probabilities, relevance, entailment, coherence, embeddings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from abstraction.errors import ModelError

Item = TypeVar("Item", contravariant=True)
Score = TypeVar("Score")


class TextScorer(Protocol[Item, Score]):
    """A scorer of texts: one score for each item of its kind."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identity that determines scores together with the texts; kept scores and signatures use it as key."""

    def scores(self, items: Sequence[Item], /) -> list[Score]:
        """One score for each item, in their order. Raises ModelError where the model cannot be used."""


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text to embed; `query`: whether it is a query, or else a text that is searched."""

    text: str
    query: bool = False


@dataclass(frozen=True, slots=True)
class QueryPassage:
    """A query and a passage that may be relevant to it."""

    query: str
    passage: str


@dataclass(frozen=True, slots=True)
class TextPair:
    """A premise, and the hypothesis that may follow from it."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Entailment:
    """Three probabilities, each in [0, 1]; they add up to 1."""

    entailed: float
    neutral: float
    refuted: float


Class = Literal["entailed", "neutral", "refuted"]
CLASSES: tuple[Class, ...] = ("entailed", "neutral", "refuted")
# Names of the classes in checkpoints: those of MNLI, FEVER and FactCC, in any case.
LABEL_CLASSES: Mapping[str, Class] = {
    "entailment": "entailed", "entailed": "entailed", "entail": "entailed", "supports": "entailed",
    "supported": "entailed", "correct": "entailed", "true": "entailed",
    "neutral": "neutral", "not enough info": "neutral", "nei": "neutral", "unverifiable": "neutral",
    "not entailment": "neutral",
    "contradiction": "refuted", "contradicted": "refuted", "contradict": "refuted", "refutes": "refuted",
    "refuted": "refuted", "incorrect": "refuted", "false": "refuted",
}  # fmt: skip


def classes_of_labels(labels: Sequence[str], *, where: str) -> tuple[Class, ...]:
    """The class of each label. Raises ModelError where one is not known, or two mean the same."""
    words = [label.strip().lower().replace("_", " ").replace("-", " ") for label in labels]
    if any(word not in LABEL_CLASSES for word in words) or len(set(map(LABEL_CLASSES.get, words))) != len(words):
        raise ModelError(
            f"{where}: its labels are {', '.join(labels)}, which do not say what is entailed, neutral or refuted; "
            "give their classes in order, as in labels=refuted,neutral,entailed"
        )
    classes = tuple(LABEL_CLASSES[word] for word in words)
    if "entailed" not in classes or len(classes) < 2:
        raise ModelError(f"{where}: none of its labels ({', '.join(labels)}) means entailed, or there is no other")
    return classes


# Log-probabilities of a text's tokens, after a prompt or alone.


LEAST = -1e30  # instead of the logarithm of 0, so that sums and files keep numbers


@dataclass(frozen=True, slots=True)
class Continuation:
    """A prompt and the text after it, joined without a separator: a space between them is part of one.

    A token belongs to the text when it ends after the prompt: so does one that crosses the boundary.
    """

    prompt: str
    text: str


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Natural logarithms of the probability of each of a text's tokens given all before it, each at most 0.

    A token without a number, as when 16-bit floats overflow, is NaN, and so are figures computed from it.
    """

    logprobs: tuple[float, ...]

    @property
    def mean_logprob(self) -> float:
        """The mean log-probability of a token, NaN where there is no token."""
        return math.fsum(self.logprobs) / len(self.logprobs) if self.logprobs else math.nan

    @property
    def geometric_mean(self) -> float:
        """The geometric mean probability of a token, 1 / PPL, in [0, 1]; NaN where there is no token."""
        return math.exp(self.mean_logprob) if self.logprobs else math.nan


EntailmentModel = TextScorer[TextPair, Entailment]
RelevanceModel = TextScorer[QueryPassage, float]  # in [0, 1], greater is better
ContinuationModel = TextScorer[Continuation, TokenScores]  # no tokens for an empty text
CoherenceModel = TextScorer[Sequence[str], float]  # a paragraph as its sentences, in [0, 1], greater is better
EmbeddingModel = TextScorer[EmbeddedText, list[float]]  # vectors of norm 1; close where meanings are alike
