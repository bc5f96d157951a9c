"""Whether a text names what it must, and nobody else: of sentences by templates and by models alike.

A text covers its facts fully, misses some of their names, or has names that belong to none of them: the three labels
that annotators of Hu et al. 2025 (CAQA), section 4.2, gave, here by what can be told without reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from abstraction.language.comparable_words import FUNCTION

LONGEST = 20_000  # characters of a text that are looked at
_NAME = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")


class TextCoverage(StrEnum):
    """What a text does with its facts."""

    FULL = "full coverage"
    ABSENT = "absent"
    HALLUCINATED = "hallucinated"


def states_name(text: str, name: str) -> bool:
    """Whether a name stands in a text as whole words, case aside.

    Of a namesake, "Rick Scott (American politician)", the name and, anywhere, the words that tell it apart.
    """
    words = folded(name)
    if not words:
        return name in text  # a currency's sign has no words
    if f" {words} " in f" {folded(text)} ":
        return True
    plain, _, apart = name.removesuffix(")").partition(" (")
    telling = [word for word in folded(apart).split() if word not in FUNCTION]
    return bool(apart) and states_name(text, plain) and all(states_name(text, word) for word in telling)


def coverage(text: str, required: Sequence[str], allowed: Iterable[str] = ()) -> tuple[TextCoverage, str]:
    """Whether a text has all names that it must, and no others; and the first that is foreign or missing.

    `allowed` are other names that may stand there. A name is taken to be foreign by its capital: languages that write
    nouns with capitals are not told apart.
    """
    if foreign := foreign_names(text, [*required, *allowed]):
        return TextCoverage.HALLUCINATED, foreign[0]
    missing = next((name for name in required if not states_name(text, name)), "")
    return TextCoverage.ABSENT if missing else TextCoverage.FULL, missing


def foreign_names(text: str, known: Iterable[str]) -> list[str]:
    """Words with a capital that are in no known name and begin no sentence, in order."""
    words = {word for name in known for word in folded(name).split()}
    foreign = []
    text = text[:LONGEST]
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip(" \"'“”‘’(")
        begins = not before or before[-1] in ".!?:\n"
        name = match[0].removesuffix("'s").removesuffix("’s")
        if name[0].isupper() and not begins and not set(folded(name).split()) <= words:
            foreign.append(name)
    return foreign


def folded(text: str) -> str:
    """Words alone, in small letters, with one blank between."""
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())
