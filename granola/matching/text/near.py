"""Words that are one in two spellings: a letter or two apart, according to their length."""

from __future__ import annotations

from granola.matching.text.match_cache import MATCHING

ONE, TWO = 5, 9  # letters of a word from which one letter, and from which two, may be spelt otherwise


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
