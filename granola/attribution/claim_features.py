"""What can be counted of a statement and its citations: words, sequences, numbers, names, negation.

None of it depends on who wrote the texts: shares of the statement, by words that weigh more the rarer they are in the
texts that an evaluator was trained on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from abstraction.language.comparable_words import FUNCTION, stem
from abstraction.models.text_scorers import Entailment
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.text_checks import folded, foreign_names

FEATURES = (
    "words in citations", "weighted words in best sentence", "weighted words in best window", "pairs in citations",
    "new words in citations", "letters in citations", "best sentence's words in statement", "numbers in citations",
    "names in citations", "heaviest missing word", "negated unlike best sentence", "longest run",
    "log of words of citations", "other numbers", "names of best sentences not in statement", "share of negations",
    "words of statement", "missing words",
)  # fmt: skip
ENTAILMENT_FEATURES = ("entailed", "neutral", "refuted")
LONGEST = 40_000  # characters of a text that are looked at
_SENTENCES = 600  # of the citations
_BEST = 3  # sentences that repeat most of the statement
_WINDOW = 20  # words at least that are looked at together; else twice those of the statement
_LETTERS = 5  # in a row
_COMMON = 0.01  # share of the texts of training: what is in fewer is as rare as anything
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_NUMBER = re.compile(r"\d[\d.,]{0,30}")
_END = re.compile(r"(?<=[.!?])\s+|\n+")
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
    """Weights of words by how many of `texts` have them; `common` are those of one in a hundred texts or more."""

    texts: int = 0
    common: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Iterable[AttributionSample]) -> WordWeights:
        """Counted in the citations of samples."""
        number, counts = 0, Counter[str]()
        for sample in samples:
            number += 1
            counts.update(set(_words(_evidence(sample))))
        least = _COMMON * number
        return cls(number, {word: found for word, found in sorted(counts.items()) if found >= least and found > 1})

    def sum(self, words: Iterable[str]) -> float:
        """What words weigh together."""
        return sum(self.weight(word) for word in words)

    def weight(self, word: str) -> float:
        """The logarithm of one over the share of texts, and a little, so that no word weighs nothing."""
        return math.log((self.texts + 1) / (self.common.get(word, _COMMON * self.texts) + 1)) + 0.2


def features_of(sample: AttributionSample, weights: WordWeights, entailment: Entailment | None = None) -> list[float]:
    """Numbers in the order of `FEATURES`, then of `ENTAILMENT_FEATURES` where a model has judged."""
    statement, evidence = sample.statement[:LONGEST], _evidence(sample)
    said, cited = _words(statement), _words(evidence)
    words, there = _content(said), set(cited)
    whole = weights.sum(words) or 1.0
    sentences = [text for text in _END.split(evidence)[:_SENTENCES] if text.strip()] or [""]
    best_first = sorted(sentences, key=lambda text: -weights.sum(words & set(_words(text))))
    best, told = best_first[0], " ".join(best_first[:_BEST])
    in_best = _content(_words(best))
    new = words - set(_words(sample.question[:LONGEST]))
    names, own = _names(statement), _numbers(statement)
    features = [
        _share(words, there),
        weights.sum(words & in_best) / whole,
        max(weights.sum(words & among) for among in _windows(cited, max(_WINDOW, 2 * len(said)))) / whole,
        _share(set(pairwise(said)), set(pairwise(cited))),
        weights.sum(new & there) / (weights.sum(new) or 1.0),
        _share(_letters(statement), _letters(evidence)),
        _share(in_best, words),
        _share(own, _numbers(evidence)),
        _share(names, there | set(folded(evidence).split())),
        max((weights.weight(word) for word in words - there), default=0.0),
        float(bool(_negations(statement)) != bool(_negations(best))),
        _longest_run(said, cited) / max(1, len(said)),
        math.log(1 + len(cited)),
        float(not own <= _numbers(told) and not _numbers(told) <= own),
        1 - _share(_names(told), names),
        _negations(evidence) / max(1, len(cited)),
        len(said),
        len(words - there),
    ]
    if entailment is not None:
        features += [entailment.entailed, entailment.neutral, entailment.refuted]
    return features


def _evidence(sample: AttributionSample) -> str:
    return " ".join(sample.citations)[:LONGEST]


def _words(text: str) -> tuple[str, ...]:
    """The words of a text in small letters, plurals undone."""
    return _split(text) if len(text) < 400 else _split.__wrapped__(text)


@lru_cache(maxsize=4_096)
def _split(text: str) -> tuple[str, ...]:
    return tuple(stem(word.removesuffix("'s").removesuffix("’s")) for word in _WORD.findall(text.casefold()))


def _content(words: Iterable[str]) -> set[str]:
    return set(words) - _PLAIN


def _numbers(text: str) -> set[str]:
    return {number.rstrip(".,").replace(",", "") for number in _NUMBER.findall(text)}


def _letters(text: str) -> set[str]:
    text = text.casefold()
    return {text[at : at + _LETTERS] for at in range(len(text) - _LETTERS + 1)}


def _names(text: str) -> set[str]:
    return {folded(name) for name in foreign_names(text, ())}


def _negations(text: str) -> int:
    words = _WORD.findall(text.casefold())
    return sum(word in _NEGATING or word.endswith(("n't", "n’t")) for word in words)


def _windows(words: Sequence[str], length: int) -> Iterable[set[str]]:
    """Sets of words that stand together, each overlapping the next by three quarters."""
    starts = range(0, max(1, len(words) - length // 2), max(1, length // 4))
    return (set(words[start : start + length]) for start in starts)


def _share(of: Collection[object], among: Collection[object]) -> float:
    """The share of some things that is among others; 1 of none."""
    return sum(one in among for one in of) / len(of) if of else 1.0


def _longest_run(said: Sequence[str], cited: Sequence[str]) -> int:
    """Words of the statement that stand in the citations in a row, at most."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(cited):
        places.setdefault(word, []).append(at)
    longest, ending = 0, dict[int, int]()
    for word in said[:200]:
        ending = {at: ending.get(at - 1, 0) + 1 for at in places.get(word, ())}
        longest = max(longest, max(ending.values(), default=0))
    return longest
