"""Capitals and shortening: the common nouns of a description, and the suffixes that may replace a phrase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.words import DescriptionWord
from abstraction.text.language.demonyms import bundled_demonyms
from abstraction.text.language.phrases import is_opaque, listed, may_stand

_AND = frozenset({"and", "&", "or"})
# Media, which are often joined: "radio and television network".
_MEDIA = frozenset({"television", "radio", "film", "newspaper", "magazine", "book", "cable", "broadcast"})
LONGEST = 20  # words of the longest suffix that is tried


def is_common(word: DescriptionWord, vocabulary: Vocabulary) -> bool:
    """Whether the word is a common noun or adjective, regardless of a capital first letter."""
    return not word.capital or (not word.text.isupper() and vocabulary.is_common(word.text))


def spell(sequence: Sequence[DescriptionWord], vocabulary: Vocabulary, is_name: Callable[[str], bool]) -> str:
    """The words as text, with common nouns in lower case: descriptions may capitalise their first word, or all.

    `is_name` is true for names of a kind ("disc jockey"), whose words are all common nouns.
    """
    texts = [w.text for w in sequence]
    if any(w.capital for w in sequence):
        named = next((i for i in range(len(texts)) if is_name(" ".join(texts[i:]))), len(texts))
        for index in range(len(texts) - 1, -1, -1):
            word = sequence[index]
            last = index + 1 == len(texts) or not texts[index + 1][:1].isupper()
            if word.capital and lowers(word, vocabulary) and (index >= named or (word.start == 0 and last)):
                texts[index] = word.text.lower()
    return " ".join(texts)


def lowers(word: DescriptionWord, vocabulary: Vocabulary) -> bool:
    """Whether a capital at the start of a phrase is due to the position only."""
    return (len(word.text) == 1 or not word.text.isupper()) and vocabulary.is_common(word.text)


def may_shorten(longer: str, shorter: str, vocabulary: Vocabulary) -> bool:
    """Whether `shorter`, a suffix of `longer`, is attested, informative alone and entailed by `longer`."""
    if not vocabulary.attests(shorter) or not may_stand(shorter) or is_opaque(longer, shorter):
        return False
    before = longer.removesuffix(shorter).split()[-1:]
    # "television and radio network" must not become "radio network".
    return not before or not (before[0] in _AND or (before[0] in _MEDIA and shorter.split()[0] in _MEDIA))


def shortenings(phrase: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The phrase and each of its suffixes that may replace it, longest first, of at most LONGEST words."""
    parts = phrase.split()
    first = max(1, len(parts) - LONGEST)
    return (phrase, *(s for i in range(first, len(parts)) if may_shorten(phrase, s := " ".join(parts[i:]), vocabulary)))


def is_joint(clause: Sequence[DescriptionWord], at: int) -> bool:
    """Whether the word separates conjuncts: a comma, "and", "as well as", but not the "and" of "track and field"."""
    word = clause[at]
    if word.separator:
        return True
    if word.text == "as" and [w.text for w in clause[at : at + 3]] == ["as", "well", "as"]:
        return True
    if word.text == "and" and 0 < at < len(clause) - 1:
        return (clause[at - 1].key, clause[at + 1].key) not in _inseparable()
    return word.text in listed("joints")


@lru_cache(maxsize=1)
def _inseparable() -> frozenset[tuple[str, str]]:
    """Pairs of words whose "and" does not separate conjuncts: in names of countries and fixed expressions."""
    out: set[tuple[str, str]] = set()
    for name in (*bundled_demonyms().names, *bundled_demonyms().countries, *listed("collocations")):
        parts = name.split()
        out.update((parts[i - 1], parts[i + 1]) for i in range(1, len(parts) - 1) if parts[i] == "and")
    return frozenset(out)
