"""Factuality of a text by its sentences: equation 1 of Chen et al. 2023."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from granola.text_models.text_entailment import Entailment, EntailmentModel, TextPair

UNVERIFIED = Entailment(0.0, 1.0, 0.0)  # a sentence without evidence, and a text without a sentence
LABELS = ("consistent", "non-verified", "inconsistent")


class Aggregation(StrEnum):
    """How the sentences of a text make its vector."""

    MIN = "min"
    MEAN = "mean"
    MAX = "max"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedSentence:
    """A sentence with the vector of the piece that entails it most; `piece` is its place, None without evidence."""

    text: str
    vector: Entailment
    piece: int | None


def is_number(vector: Entailment) -> bool:
    """Whether the model gave numbers."""
    return not any(math.isnan(share) for share in (vector.entailed, vector.neutral, vector.refuted))


def judged(sentences: Sequence[str], pieces: Sequence[Sequence[str]], model: EntailmentModel) -> list[JudgedSentence]:
    """f(s_i, E_i): over the pieces of each sentence the vector with the greatest entailment, the first of equal ones.

    The premise is the piece, the hypothesis the sentence. A pair that the model has no number for is passed over; a
    sentence without any is not verified.
    """
    pairs = [
        TextPair(piece, text) for text, of_sentence in zip(sentences, pieces, strict=True) for piece in of_sentence
    ]
    vectors = iter(model.entailments(pairs) if pairs else [])
    judgements = []
    for text, of_sentence in zip(sentences, pieces, strict=True):
        best: tuple[int, Entailment] | None = None
        for place, vector in enumerate([next(vectors) for _ in of_sentence]):
            if is_number(vector) and (best is None or vector.entailed > best[1].entailed):
                best = place, vector
        judgements.append(
            JudgedSentence(text=text, vector=best[1] if best else UNVERIFIED, piece=best[0] if best else None)
        )
    return judgements


def aggregated(vectors: Sequence[Entailment], how: Aggregation) -> Entailment:
    """The text's vector: that of the sentence with the least or greatest entailment, whole, or the mean of all.

    Its three numbers add up to 1. A text without a sentence is not verified.
    """
    if not vectors:
        return UNVERIFIED
    if how is Aggregation.MEAN:
        n = len(vectors)
        return Entailment(
            math.fsum(vector.entailed for vector in vectors) / n,
            math.fsum(vector.neutral for vector in vectors) / n,
            math.fsum(vector.refuted for vector in vectors) / n,
        )
    chosen = min if how is Aggregation.MIN else max
    return chosen(vectors, key=lambda vector: vector.entailed)


def label_of(vector: Entailment) -> str:
    """The likeliest of LABELS, the first of equal ones."""
    shares = (vector.entailed, vector.neutral, vector.refuted)
    return LABELS[shares.index(max(shares))]
