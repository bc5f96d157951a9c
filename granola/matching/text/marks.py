"""Marks that tell one thing from another where the words are the same: C and C++, 42 and 42 %, E and E♭, $ and €."""

from __future__ import annotations

from abstraction.language.currencies import are_other_currencies
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import MARKS, is_mark, words


@MATCHING.remembered(1 << 14)
def _marks(text: str, *, spelt: bool) -> frozenset[tuple[str, str]]:
    """Each mark of a text with the word that it stands beside; those that are `spelt` out as well."""
    MATCHING.count(len(text))
    found = words(text)
    return frozenset(
        (found[index + 1 if before else index - 1].text, word.text)
        for index, word in enumerate(found)
        if word.text in MARKS and (spelt or is_mark(found, index, text))
        for before in [word.text in ("minus", "below", "above")]
        if 0 <= index + (1 if before else -1) < len(found)
    )


def keeps_marks(prediction: str, name: str) -> bool:
    """Whether a prediction has every mark of a name where it has the word, and names no other currency."""
    if name.isalnum():
        return True
    return _marks(name, spelt=False) <= _marks(prediction, spelt=True) and not are_other_currencies(prediction, name)
