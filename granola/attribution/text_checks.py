"""Whether a text names what it must, and nobody else: of sentences by templates and by models alike.

A text covers its facts fully, misses some of their names, or has names that belong to none of them: the three labels
that annotators of Hu et al. 2025 (CAQA), section 4.2, gave, here by what can be told without reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from granola.attribution.attribution_samples import CitedFact

LONGEST = 20_000  # characters of a text that are looked at
_NAME = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")


class TextCoverage(StrEnum):
    """What a text does with its facts."""

    FULL = "full coverage"
    ABSENT = "absent"
    HALLUCINATED = "hallucinated"


def states_name(text: str, name: str) -> bool:
    """Whether a name stands in a text as whole words, case aside."""
    words = folded(name)
    return f" {words} " in f" {folded(text)} " if words else name in text  # a currency's sign has no words


def coverage(
    text: str, facts: Sequence[CitedFact], *, allowed: Iterable[str] = (), given: Sequence[str] = ()
) -> TextCoverage:
    """Whether a text names the entities of all its facts, and no others.

    `allowed` are other names that may stand there. `given`: the names that must, where they are not all of the facts'
    (a question does not tell its answer). A name is taken to be foreign by its capital: languages that write nouns with
    capitals are not told apart.
    """
    required = list(given) or [name for fact in facts for name in (fact.names[0], fact.names[2])]
    if foreign_names(text, [*required, *(name for fact in facts for name in fact.names), *allowed]):
        return TextCoverage.HALLUCINATED
    return TextCoverage.FULL if all(states_name(text, name) for name in required) else TextCoverage.ABSENT


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
