"""Gold answers that are phrases and no names: what they say in other forms of their words, or most of it.

`coordination of voluntary movements` says what `coordinates voluntary movement` says, and `limiting government
power` what `to limit the power of the government` says.
"""

from __future__ import annotations

import re
from functools import lru_cache

from granola.matching import vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention
from granola.matching.bearers import Found
from granola.matching.folding import loose_key, stem
from granola.matching.gold import Tier
from granola.matching.people import whole_person
from granola.matching.words import drop_articles, key, words

LONG = 4  # informative words from which most of them are enough
COVERED = 0.75  # share of their weight that is
_SPREAD = 5  # words that may stand between those of a phrase, twice their number aside
_ALONE = 5  # letters of a single word that the question leaves of a phrase
_WHOLE = 3  # words that an answer may claim where a single word is all that a phrase says


@lru_cache(maxsize=1 << 16)
def informative(name: str) -> tuple[str, ...]:
    """The further folds of a name's words that say something, in order."""
    empty = vocabulary.FUNCTION
    return tuple(folded for word, folded in zip(key(name), loose_key(name), strict=True) if word not in empty)


@lru_cache(maxsize=1 << 13)
def phrase_stems(name: str) -> frozenset[str]:
    """The stems of a phrase's informative words; none for names, kinds (`an American composer`) and single words."""
    own = [word for word in drop_articles(words(name)) if word.text not in vocabulary.FUNCTION]
    if len(own) < 2 or any(word.capital for word in own[1:]) or not any(word.text.isalpha() for word in own):
        return frozenset()
    if own[-1].text in vocabulary.CLASSES or own[-1].text in vocabulary.OCCUPATIONS:
        return frozenset()
    return frozenset(map(stem, informative(name)))


def by_phrase(answer: Answer, tier: Tier) -> Found:
    """All informative words of a phrase, in whatever form and order, within a few words of one sentence."""
    wanted = phrase_stems(tier[1])
    if not wanted or answer.of_places or not answer.stems.issuperset(wanted):
        return
    asked = {stem(word) for word in answer.loose_asked}
    left = wanted - asked
    if not left or (answer.denies and vocabulary.NEGATIONS.isdisjoint(tier[2])):
        return
    if len(left) == 1 and (len(next(iter(left))) < _ALONE or len(answer.claimed) > _WHOLE):
        return
    places = [index for index, word in enumerate(answer.loose) if stem(word) in left]
    ends = [index for index, word in enumerate(answer.words) if word.gap and set(word.gap) & SENTENCE_END]
    for first, start in enumerate(places):
        need = set(left)
        for index in places[first:]:
            if index - start > 2 * len(left) + _SPREAD or any(start < end <= index for end in ends):
                break
            need.discard(stem(answer.loose[index]))
            if not need:
                yield Mention(tier[0], tier[1], start, index + 1)
                return


def by_coverage(answer: Answer, tier: Tier) -> Found:
    """Most of the informative words of a long name, by weight, every number among them."""
    wanted = set(informative(tier[1]))
    if len(wanted) < LONG or answer.denies:
        return
    said = answer.stems
    weights = {word: _weight(word) for word in wanted if word not in answer.loose_asked}
    if len(weights) < LONG - 1:
        return
    missing = [word for word in weights if stem(word) not in said]
    if any(word[0].isdigit() for word in missing):
        return
    more = [word for word in answer.claimed if stem(word) not in {stem(own) for own in wanted}]
    if missing and more and len(answer.claimed) <= len(wanted):
        return  # a word for another
    if sum(weights[word] for word in missing) <= (1 - COVERED) * sum(weights.values()):
        yield Mention(tier[0], tier[1], 0, len(answer.words))


def _weight(word: str) -> float:
    """What a word says, by its length: short ones are common."""
    return 2.0 if word[0].isdigit() else min(len(word), 8) / 4


SHARE = 0.45


@lru_cache(maxsize=1 << 12)
def _common_stems() -> frozenset[str]:
    from granola.matching.recased import _common

    return frozenset(stem(w) for word in _common() for w in loose_key(word))


def _worth(word: str) -> float:
    if word[0].isdigit():
        return 1.5
    return 0.5 if word in _common_stems() else 1.0


_ROOT = re.compile(r"(?<=[a-z]{5})(?:isms?|ists?|ians?|ers?|ors?|ing|an|a|ic|ous|ive|able|ness)\Z")


@lru_cache(maxsize=1 << 14)
def root(word: str) -> str:
    """The stem without an ending that makes a faith, its believer, a doer or a kind of it."""
    return _ROOT.sub("", stem(word))


def stated_by_coverage(answer: Answer, tier: Tier) -> Found:
    """The informative words of a gold answer of one level, by weight, to half at least, and every number of it."""
    wanted = {root(word): word for word in informative(tier[1])}
    asked = {root(word) for word in answer.loose_asked}
    said = answer.roots
    if any((w[0].isdigit() or w in vocabulary.MONTHS) and r not in said for r, w in wanted.items()):
        return
    left = {r: w for r, w in wanted.items() if r not in asked}
    if not left:
        return
    weights = {r: _worth(w) for r, w in left.items()}
    missing = [r for r in left if r not in said]
    if missing:
        person = whole_person(tier[1])
        if person is not None and (root(person.family) not in said or len(left) - len(missing) < 2):
            return
        if len(answer.words) <= FEW and _is_proper(tier[1]) and any(root(w) not in wanted for w in answer.claimed):
            return
    if sum(w for r, w in weights.items() if r in said) >= SHARE * sum(weights.values()):
        yield Mention(tier[0], tier[1], 0, len(answer.words))


FEW = 6


@lru_cache(maxsize=1 << 14)
def _is_proper(name: str) -> bool:
    own = [word for word in words(name) if word.text not in vocabulary.FUNCTION]
    return bool(own) and all(word.capital or not word.text.isalpha() for word in own)
