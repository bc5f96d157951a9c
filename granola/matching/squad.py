"""SQuAD's answer normalisation and token-F1 (Rajpurkar et al. 2016, section 6.1), as the paper uses them.

The tokens of each distinct text are cached. A text of letters, digits and blanks alone is normalised without a regular
expression, which is faster: there the expression removes articles exactly where they are whole tokens.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from granola.matching.text.match_cache import Memory

SQUAD = Memory(characters=6_000_000)
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_DROPPED = frozenset({"a", "an", "the"})


def normalise(text: str) -> str:
    """Lower case, ASCII punctuation deleted (not replaced), English articles dropped, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


@SQUAD.memoize(1 << 18)
def tokens(text: str) -> tuple[str, ...]:
    """The normalised text's tokens, in order."""
    SQUAD.count(len(text))
    raw_tokens = text.lower().translate(_PUNCTUATION).split()
    if "".join(raw_tokens).isalnum():
        return tuple([token for token in raw_tokens if token not in _DROPPED])
    return tuple(normalise(text).split())


def f1(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """Token-F1 of two token multisets, in [0, 1]; where either is empty, 1.0 if both are and 0.0 if not."""
    if not prediction or not gold:
        return float(prediction == gold)
    if set(prediction).isdisjoint(gold):
        return 0.0  # the usual case, found faster
    common = sum((Counter(prediction) & Counter(gold)).values())
    return 2 * common / (len(prediction) + len(gold))


def token_f1(prediction: str, gold: str) -> float:
    """Token-F1 of two texts after SQuAD normalisation, in [0, 1]."""
    return f1(tokens(prediction), tokens(gold))


def best_f1(prediction: str, names: Sequence[str]) -> float:
    """The greatest token-F1 with any of the names of a level; 0.0 where there is none."""
    return max((token_f1(prediction, name) for name in names), default=0.0)
