"""Words in two spellings that differ by a letter or two, according to their length."""

from __future__ import annotations

from granola.matching.text.match_cache import MATCHING

ONE_LETTER_FROM, TWO_LETTERS_FROM = 5, 9  # letters from which a word may differ in one letter, and in two


@MATCHING.memoize(1 << 14)
def is_near(word: str, other: str) -> bool:
    """Whether two folded words are equal, or differ in one letter, or two, as their length allows."""
    if word == other:
        return True
    size = min(len(word), len(other))
    allowed = 2 if size >= TWO_LETTERS_FROM else 1 if size >= ONE_LETTER_FROM else 0
    # the first letter must agree: Berlin is not Merlin
    if not allowed or abs(len(word) - len(other)) > allowed or not (word + other).isalpha() or word[0] != other[0]:
        return False
    MATCHING.count(len(word))
    return _distance(word, other) <= allowed


def _distance(word: str, other: str) -> int:
    """The number of letters to insert, delete or change (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for index, letter in enumerate(word, 1):
        last, row[0] = row[0], index
        for place, against in enumerate(other, 1):
            last, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, last + (letter != against))
    return row[-1]
