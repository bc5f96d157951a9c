"""Coherence of sentences, informativeness and helpfulness: equations 3, 5 and 6 of Chen et al. 2023."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from granola.text_models.continuations import TokenScores


def sentence_coherence(scores: Sequence[TokenScores]) -> float:
    """The mean of 1 / PPL over the sentences, in [0, 1]; 0 for no sentence, and for one without tokens or numbers."""
    shares = [sentence.geometric_mean for sentence in scores]
    return math.fsum(0.0 if math.isnan(share) else share for share in shares) / len(shares) if shares else 0.0


def informativeness(scores: TokenScores) -> float:
    """1 - exp(mean log-probability given the query), in [0, 1]; 0 for a text without tokens or numbers."""
    share = scores.geometric_mean
    return 0.0 if math.isnan(share) else 1.0 - share


@dataclass(frozen=True, kw_only=True, slots=True)
class Helpfulness:
    """`score` in [0, 1]; `raw` is not cut off at 0, None where it is no number."""

    score: float
    raw: float | None


def helpfulness(with_own: TokenScores, with_random: Sequence[TokenScores]) -> Helpfulness:
    """max(0, 1 - L(q, k, a) / mean of L(q, k_i-, a)): the first form of equation 6.

    L is the mean negative log-probability of the gold answer's tokens. 0 where it is no better than with random texts,
    also where both are 0; no number, and 0, where there is no random text, no token, or no number of the model's.
    """
    loss = -with_own.mean
    losses = [-scores.mean for scores in with_random]
    mean = math.fsum(losses) / len(losses) if losses else math.nan
    if math.isnan(loss) or math.isnan(mean):
        return Helpfulness(score=0.0, raw=None)
    if mean == 0:
        return Helpfulness(score=0.0, raw=0.0 if loss == 0 else None)
    raw = 1.0 - loss / mean
    return Helpfulness(score=max(0.0, raw), raw=raw)


def random_texts(text: str, pool: Sequence[str], number: int, *, seed: int, key: object) -> list[str]:
    """`number` different texts of the pool, never equal to `text`; all of them where there are fewer.

    The draw depends on the seed, the key of the item and the texts, not on their order.
    """
    others = sorted(set(pool) - {text})
    return random.Random(f"{seed}\0{key!r}").sample(others, min(number, len(others)))
