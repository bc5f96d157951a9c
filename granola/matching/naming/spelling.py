"""Names in another spelling: `Havewala` for Havewalla, `Amr Moussa` for Amr Mousa."""

from __future__ import annotations

from granola.matching.naming.mentions import AnswerText, Mention
from granola.matching.naming.names import Mentions
from granola.matching.naming.references import Tier, is_description
from granola.matching.text import word_lists
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import MOST

ONE, TWO = 6, 9  # letters of a word from which one letter, and from which two, may be spelt otherwise
LONGEST = 6  # words of a name; one alone is told by its spelling


def by_spelling(answer: AnswerText, tier: Tier) -> Mentions:
    """The words of a name in their order, one of them or more with a letter or two spelt otherwise.

    Of names that begin with a capital alone, and of words that no other tier has.
    """
    level, name, folded = tier
    if not name[:1].isupper() or not 1 < len(folded) <= LONGEST or is_description(name) or not answer.cased:
        return
    if max(map(len, folded)) < ONE:
        return
    texts = answer.texts
    for start in range(min(len(texts) - len(folded) + 1, MOST)):
        run = texts[start : start + len(folded)]
        if not answer.words[start].capital or not all(map(is_near, run, folded)):
            continue
        if any(own in word_lists.CLASSES and own != said for said, own in zip(run, folded, strict=True)):
            continue
        yield Mention(level, name, start, start + len(folded))


@MATCHING.remembered(1 << 14)
def is_near(word: str, other: str) -> bool:
    """Whether two folded words are one, but for a letter in words of ONE letters or more, for two in those of TWO."""
    if word == other:
        return True
    size = min(len(word), len(other))
    allowed = 2 if size >= TWO else 1 if size >= ONE else 0
    if not allowed or abs(len(word) - len(other)) > allowed or not (word + other).isalpha() or word[0] != other[0]:
        return False
    MATCHING.count(len(word))
    return _distance(word, other) <= allowed


def _distance(word: str, other: str) -> int:
    """How many letters have to be put in, taken out or changed (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for index, letter in enumerate(word, 1):
        last, row[0] = row[0], index
        for place, against in enumerate(other, 1):
            last, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, last + (letter != against))
    return row[-1]
