"""Numeric features of a statement and its citations: overlap of words, numbers and names, and negation.

The features are shares of the statement, independent of style. Words are weighted by rarity in the training texts (as
in IDF).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from abstraction.models.text_scorers import Entailment
from abstraction.text.language.comparable_words import FUNCTION, stem
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.text_checks import folded_words, foreign_names

FEATURES = (
    "words in citations", "weighted words in best sentence", "new words in citations",
    "best sentence's words in statement", "numbers in citations", "names in citations", "heaviest missing word",
    "negated unlike best sentence", "log of words of citations", "other numbers", "words of statement", "missing words",
)  # fmt: skip
ENTAILMENT_FEATURES = ("entailed", "neutral", "refuted")
LONGEST = 40_000  # characters of a text that are read: bounds the time for a long document
_SENTENCES = 600  # sentences of the citations that are compared with the statement
_BEST = 3  # sentences with the largest overlap, used for "other numbers"
_COMMON = 0.01  # share of training texts below which all words count as equally rare
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
# Bounded repetition keeps matching linear.
_NUMBER = re.compile(r"\d[\d.,]{0,30}")
_END = re.compile(r"(?<=[.!?])\s+|\n+")
# Function words beyond those of `comparable_words`: they carry no content of a claim.
_PRONOUNS = """
    be been being this these those it its there their they he she his her him has have had do does did can could may
    might will would should also but if than then so such into over about more most some any all other i you we our
    your my me us them what when where why how as
"""
_PLAIN = FUNCTION | frozenset(_PRONOUNS.split())
_NEGATIONS = "no not never none nor neither without cannot nobody nothing hardly false incorrect unlike"
_NEGATING = frozenset(_NEGATIONS.split())


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weights of words by document frequency in `texts` texts; `common` has the words of at least one text in a
    hundred.
    """

    texts: int = 0
    common: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Iterable[AttributionSample]) -> WordWeights:
        """Count document frequencies over the citations of samples."""
        number, counts = 0, Counter[str]()
        for sample in samples:
            number += 1
            counts.update(set(_words(_evidence_text(sample))))
        # Only common words are stored: the file stays small, and rare words share one weight.
        least = _COMMON * number
        return cls(number, {word: found for word, found in sorted(counts.items()) if found >= least and found > 1})

    def sum(self, words: Iterable[str]) -> float:
        """The sum of the weights of words."""
        return sum(self.weight(word) for word in words)

    def weight(self, word: str) -> float:
        """Inverse document frequency, smoothed, plus 0.2 so that every word has a positive weight."""
        return math.log((self.texts + 1) / (self.common.get(word, _COMMON * self.texts) + 1)) + 0.2


def features_of(sample: AttributionSample, weights: WordWeights, entailment: Entailment | None = None) -> list[float]:
    """The features in the order of `FEATURES`, followed by `ENTAILMENT_FEATURES` where `entailment` is given."""
    statement, evidence = sample.statement[:LONGEST], _evidence_text(sample)
    said, cited = _words(statement), _words(evidence)
    words, there = _content_words(said), set(cited)
    whole = weights.sum(words) or 1.0
    sentences = [text for text in _END.split(evidence)[:_SENTENCES] if text.strip()] or [""]
    best_first = sorted(sentences, key=lambda text: -weights.sum(words & set(_words(text))))
    best, told = best_first[0], " ".join(best_first[:_BEST])
    in_best = _content_words(_words(best))
    # Words that the question already contains are no evidence of an answer.
    new = words - set(_words(sample.question[:LONGEST]))
    # A contradicted claim often differs from its evidence only in a name or a number.
    names, own = _names(statement), _numbers(statement)
    features = [
        _share(words, there),
        weights.sum(words & in_best) / whole,
        weights.sum(new & there) / (weights.sum(new) or 1.0),
        _share(in_best, words),
        _share(own, _numbers(evidence)),
        _share(names, there | set(folded_words(evidence).split())),
        max((weights.weight(word) for word in words - there), default=0.0),
        # A negation on one side only indicates a contradiction.
        float(_is_negated(statement) != _is_negated(best)),
        math.log(1 + len(cited)),
        float(not own <= _numbers(told) and not _numbers(told) <= own),
        len(said),
        len(words - there),
    ]
    if entailment is not None:
        features += [entailment.entailed, entailment.neutral, entailment.refuted]
    return features


def _evidence_text(sample: AttributionSample) -> str:
    return " ".join(sample.citations)[:LONGEST]


def _words(text: str) -> tuple[str, ...]:
    """The stemmed lower-case words of a text; short texts are cached."""
    return _stems(text) if len(text) < 400 else _stems.__wrapped__(text)


@lru_cache(maxsize=4_096)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word.removesuffix("'s").removesuffix("’s")) for word in _WORD.findall(text.casefold()))


def _content_words(words: Iterable[str]) -> set[str]:
    return set(words) - _PLAIN


def _numbers(text: str) -> set[str]:
    # "1,000" equals "1000"; a full stop after a number is punctuation.
    return {number.rstrip(".,").replace(",", "") for number in _NUMBER.findall(text)}


def _names(text: str) -> set[str]:
    return {folded_words(name) for name in foreign_names(text, ())}


def _is_negated(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    return any(word in _NEGATING or word.endswith(("n't", "n’t")) for word in words)


def _share(of: Collection[object], among: Collection[object]) -> float:
    """The share of the first that is in the second; 1 where the first is empty."""
    return sum(one in among for one in of) / len(of) if of else 1.0
