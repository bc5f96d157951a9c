"""Checks that a text contains all names that it must, and no others, for template and model texts alike.

The labels are those of the annotators of Hu et al. 2025 (CAQA), section 4.2: full coverage, a name missing, or a name
that belongs to no fact; here computed from names alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from abstraction.text.language.comparable_words import FUNCTION

LONGEST = 20_000  # characters of a text that are read
_NAME = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")


class TextCoverage(StrEnum):
    """How a text covers its facts."""

    FULL = "full coverage"
    ABSENT = "absent"
    HALLUCINATED = "hallucinated"


def states_name(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words, ignoring case.

    For a namesake such as "Rick Scott (American politician)": the name, and the content words of the description
    anywhere.
    """
    words = folded_words(name)
    if not words:
        return name in text  # a name of symbols only, as of a currency, has no words
    if f" {words} " in f" {folded_words(text)} ":
        return True
    plain, _, apart = name.removesuffix(")").partition(" (")
    telling = [word for word in folded_words(apart).split() if word not in FUNCTION]
    return bool(apart) and states_name(text, plain) and all(states_name(text, word) for word in telling)


def coverage(text: str, required: Sequence[str], allowed: Iterable[str] = ()) -> tuple[TextCoverage, str]:
    """The coverage of a text, and the first foreign or missing name.

    `allowed`: further names that may occur. A capitalised word counts as a name, so the check does not suit languages
    that capitalise nouns.
    """
    if foreign := foreign_names(text, [*required, *allowed]):
        return TextCoverage.HALLUCINATED, foreign[0]
    missing = next((name for name in required if not states_name(text, name)), "")
    return TextCoverage.ABSENT if missing else TextCoverage.FULL, missing


def foreign_names(text: str, known: Iterable[str]) -> list[str]:
    """Capitalised words, in order, that belong to no known name and do not begin a sentence."""
    words = {word for name in known for word in folded_words(name).split()}
    foreign = []
    text = text[:LONGEST]
    for match in _NAME.finditer(text):
        # The first word of a sentence has a capital in any case.
        before = text[: match.start()].rstrip(" \"'“”‘’(")
        begins = not before or before[-1] in ".!?:\n"
        name = match[0].removesuffix("'s").removesuffix("’s")
        if name[0].isupper() and not begins and not set(folded_words(name).split()) <= words:
            foreign.append(name)
    return foreign


def folded_words(text: str) -> str:
    """The case-folded words of a text, separated by single blanks."""
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())
