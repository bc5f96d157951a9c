"""Descriptions as sequences of words with positions: the input of the phrase grammars.

Every grammar works on `DescriptionWord`s, so that the words it used can be located in the original text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from abstraction.base.trimming import LONGEST
from kg.base.terms import normalise

# Brackets, separators, words with inner hyphens and dots, full stops.
_TOKEN = re.compile(
    r"(?P<open>[(\[])|(?P<close>[)\]])|(?P<separator>[,;/&:|•]|(?<=\s)[-–—](?=\s))"
    r"|(?P<word>\d+(?:,\d{3})+|[A-Z]&[A-Z]|(?:[A-Z]\.){1,}(?:-\w+)*|[^\W_][\w]*(?:[-–‐'’.&+][^\W_]\w*)*(?:['’](?=\s|$))?)"
    r"|(?P<stop>\.(?=\s|$))|(?P<other>\S)"
)
# Life dates at the end: "(1879-1955)", "born 1961".
_DATES = re.compile(
    r"(?:,?(?:(?<!\s)\s++)?(?:\(|\[)?\b(?:c(?:a|irca)?\.?\s*+|b\.\s*+|born\s++|fl\.\s*+|died\s++)?\d{3,4}"
    r"(?:\s*+(?:BC|AD|CE|BCE))?\s*+[-–—]\s*+(?:c\.\s*+)?(?:\d{2,4}|present)?\s*+(?:BC|AD|CE|BCE)?(?:\)|\])?"
    r"|,?(?:(?<!\s)\s++)?\bborn\s++(?:in\s++)?\d{4}\b)\s*+\.?\s*+$"
)


@dataclass(frozen=True, slots=True)
class DescriptionWord:
    """A word or a separator of a description, with its [start, end) in the original text."""

    text: str
    start: int
    end: int
    separator: bool = False

    @property
    def key(self) -> str:
        """The normalised word, for comparison."""
        return normalise(self.text)

    @property
    def capital(self) -> bool:
        """Whether it starts with an upper-case letter."""
        return self.text[:1].isupper()


def words(description: str) -> tuple[DescriptionWord, ...]:
    """The words of a description's first LONGEST characters, without brackets, final life dates and full stops.

    A full stop after a lower-case word ends the description, since another sentence follows.
    """
    end = min(len(description), LONGEST)
    dates = _DATES.search(description, 0, end)
    if dates and dates.start() > 0:
        end = dates.start()
    out: list[DescriptionWord] = []
    depth = 0
    for token in _TOKEN.finditer(description, 0, end):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth:
            continue
        elif kind == "stop":
            if out and out[-1].text.islower() and len(out[-1].text) > 2:
                break
        elif kind == "separator":
            out.append(DescriptionWord(token.group(), token.start(), token.end(), separator=True))
        elif kind == "word":
            out.append(DescriptionWord(token.group(), token.start(), token.end()))
    return tuple(out)


def first_clause(description: str, ends: str) -> list[DescriptionWord]:
    """The words up to the first separator that is among `ends`."""
    return list(takewhile(lambda word: not (word.separator and word.text in ends), words(description)))


def split(sequence: Sequence[DescriptionWord], marks: frozenset[str]) -> list[list[DescriptionWord]]:
    """The sequences between separators or words in `marks`, without empty ones."""
    runs: list[list[DescriptionWord]] = [[]]
    for word in sequence:
        if word.key in marks and (word.separator or word.text.islower()):
            runs.append([])
        else:
            runs[-1].append(word)
    return [run for run in runs if run]


def text_of(sequence: Sequence[DescriptionWord]) -> str:
    """The words as text with single spaces, but none before ",", ";" and ":"."""
    out = ""
    for word in sequence:
        if word.text in ",;:":
            out += word.text
        else:
            out += f" {word.text}"
    return out.strip()


def spans(sequence: Sequence[DescriptionWord]) -> list[tuple[int, int]]:
    """The [start, end) of each contiguous run of words in the text."""
    out: list[tuple[int, int]] = []
    for word in sorted(sequence, key=lambda w: w.start):
        if out and word.start - out[-1][1] <= 1:
            out[-1] = (out[-1][0], word.end)
        elif not out or word.start >= out[-1][1]:
            out.append((word.start, word.end))
    return out
