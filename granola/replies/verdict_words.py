"""The word that a judge's reply gives, of those that it was offered: `1.`, `**Level 1**`, `Verdict: wrong`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from granola.replies.reply import read_reply

_BEFORE = re.compile(
    r"(?:(?:the|my|final|overall|correct)\s++)*+(?:level|verdict|answer|label|category|judge?ment|rating|score|option|it)"
    r"\s*+(?:is\b|:|=|-)?\s*+",
    re.IGNORECASE,
)
_MARKS = " \t\r\n*_`'\"“”‘’.,;:!()[]{}#<>$"


def read_word(reply: str, words: Iterable[str]) -> str | None:
    """The one of `words` that a judge's reply consists of, case aside; None where it says more, or another.

    Thoughts, fences, boxes, emphasis, punctuation and a label such as "Level" or "Verdict:" may stand around the word.
    A reply that needs to be interpreted is no verdict.
    """
    by_key = {word.casefold(): word for word in words}
    text = read_reply(reply).answer.strip(_MARKS)
    for _ in range(3):  # "Verdict: level 1" has two labels
        if (word := by_key.get(" ".join(text.split()).casefold())) is not None:
            return word
        label = _BEFORE.match(text)
        if label is None or label.end() == len(text):
            return None
        text = text[label.end() :].strip(_MARKS)
    return by_key.get(text.casefold())
