"""Baselines of the six scores: simpler measures of the same texts (Chen et al. 2023, Table 10)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from granola.matching.squad import normalise

# A named entity is a run of capitalised words or numbers; a sentence's first word alone is one only if it is a number.
# Repeats are bounded, so that the pattern takes linear time on every text.
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+){0,4}")


def named_entities(sentences: Sequence[str]) -> set[str]:
    """The named entities of sentences, in lower case: runs of words that begin with a capital or digit."""
    entities: set[str] = set()
    for sentence in sentences:
        words = _WORD.findall(sentence)
        run: list[str] = []
        for place, word in enumerate([*words, ""]):
            if word[:1].isupper() or word[:1].isdigit():
                run.append(word)
                continue
            if run and not (len(run) == place == 1 and run[0].isalpha()):
                entities.add(" ".join(run).lower())
            run = []
    return entities


def hallucinated_entities(knowledge: Sequence[str], reference: str) -> float:
    """Hallucinated entities (HE), negated: minus the share of the text's named entities that are missing in the
    reference, in [-1, 0], higher is better; 0 for a text without any.
    """
    names = named_entities(knowledge)
    held = f" {normalise(reference)} "
    lacking = sum(f" {normalise(name)} " not in held for name in names)
    return -lacking / len(names) if names else 0.0


def answer_em(answer: str, gold: Sequence[str]) -> float:
    """1 where the answer equals a gold answer after SQuAD's normalisation, else 0."""
    return float(any(normalise(answer) == normalise(right) for right in gold))
