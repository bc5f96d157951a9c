"""Marks that distinguish names of the same words: C and C++, 42 and 42 %, E and E♭, $ and €."""

from __future__ import annotations

import re

from abstraction.text.language.units import SIGNS, are_other_currencies
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import MARK, MARKS, is_mark, words


@MATCHING.memoize(1 << 14)
def _marks(text: str, *, spelt: bool) -> frozenset[tuple[str, str]]:
    """Each mark of a text with the word it belongs to; with `spelt` also marks written as words ("sharp")."""
    MATCHING.count(len(text))
    found = ("", *[word.text for word in words(text)], "")
    return frozenset(
        (found[place + 1 if found[place] in _BEFORE else place - 1], found[place])
        for place in range(1, len(found) - 1)
        if found[place] in MARKS and (spelt or is_mark(words(text), place - 1, text))
    )


_BEFORE = frozenset({"minus", "below", "above"})  # written before their number
_MAY_HAVE = re.compile(rf"{MARK.pattern}|[{SIGNS}]|\d|\b[A-Ha-h][ -](?:sharp|flat)\b")


def keeps_marks(prediction: str, name: str) -> bool:
    """Whether a prediction has every mark of a name at the same word, and names no other currency."""
    return not _MAY_HAVE.search(name) or (
        _marks(name, spelt=False) <= _marks(prediction, spelt=True) and not are_other_currencies(prediction, name)
    )
