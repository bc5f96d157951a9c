"""SQuAD's answer normalisation and token-F1 (Rajpurkar et al. 2016, section 6.1), as the paper uses them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """Lower case, ASCII punctuation deleted (not replaced), English articles dropped, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


@lru_cache(maxsize=1 << 17)
def tokens(text: str) -> tuple[str, ...]:
    """The normalised text's tokens, in order."""
    return tuple(normalise(text).split())


def f1(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """Token-F1 of two token multisets, in [0, 1]; where either is empty, 1.0 if both are and 0.0 if not."""
    if not prediction or not gold:
        return float(prediction == gold)
    common = sum((Counter(prediction) & Counter(gold)).values())
    return 2 * common / (len(prediction) + len(gold))


def token_f1(prediction: str, gold: str) -> float:
    """Token-F1 of two texts after SQuAD normalisation, in [0, 1]."""
    return f1(tokens(prediction), tokens(gold))
