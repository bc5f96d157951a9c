"""What can be counted of a sample without a model: how much of statement and question the citations repeat."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.text_checks import folded, states_name
from granola.text_models.text_entailment import Entailment

FEATURES = (
    "statement words in citations", "citation words in statement", "statement pairs in citations",
    "statement names in citations", "question names in citations", "own names in citations",
    "citation names in statement", "strange names", "best citation", "worst citation", "numbers in citations",
    "citations", "words of citations", "words of statement", "longest run",
)  # fmt: skip
ENTAILMENT_FEATURES = ("entailed", "neutral", "refuted")
LONGEST = 20_000  # characters of a text that are looked at
_NAME = re.compile(r"\b[A-Z][\w'’-]{0,60}(?: (?:of |the |and |de |for |in )?[A-Z][\w'’-]{0,60}){0,8}")
_NUMBER = re.compile(r"\d[\d.,]{0,30}")


def features_of(sample: AttributionSample, entailment: Entailment | None = None) -> list[float]:
    """Numbers in the order of `FEATURES`, then of `ENTAILMENT_FEATURES` where a model has judged."""
    statement, question = sample.statement[:LONGEST], sample.question[:LONGEST]
    evidence = " ".join(sample.citations)[:LONGEST]
    statement_words, cited = folded(statement).split(), folded(evidence).split()
    words, evidence_words = set(statement_words), set(cited)
    names, asked, there = names_in(statement), names_in(question), names_in(evidence)
    answer_names = [name for name in names if not states_name(question, name)]  # the answer's, most likely
    each = [_share(words, set(folded(citation[:LONGEST]).split())) for citation in sample.citations] or [0.0]
    numbers = set(_NUMBER.findall(statement))
    features = [
        _share(words, evidence_words),
        _share(evidence_words, words),
        _share(_pairs(statement_words), _pairs(cited)),
        _stated(names, evidence),
        _stated(asked, evidence),
        _stated(answer_names, evidence),
        _stated(there, f"{question} {statement}"),
        float(sum(not states_name(f"{question} {statement}", name) for name in there)),
        max(each),
        min(each),
        _share(numbers, set(_NUMBER.findall(evidence))),
        float(len(sample.citations)),
        min(len(cited), 1_000) / 100,
        min(len(statement_words), 1_000) / 100,
        _longest_run(statement_words[:200], cited[:2_000]),
    ]
    if entailment is not None:
        features += [entailment.entailed, entailment.neutral, entailment.refuted]
    return features


def names_in(text: str) -> list[str]:
    """Runs of words with capitals, without repeats."""
    return list(dict.fromkeys(match[0] for match in _NAME.finditer(text[:LONGEST])))


def _share(of: set[str] | set[tuple[str, str]], among: set[str] | set[tuple[str, str]]) -> float:
    return len(of & among) / len(of) if of else 1.0


def _pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(words))


def _stated(names: Sequence[str], text: str) -> float:
    return sum(states_name(text, name) for name in names) / len(names) if names else 1.0


def _longest_run(statement_words: Sequence[str], cited: Sequence[str]) -> float:
    """The longest run of the statement's words that stands in the citations, as a share of the statement."""
    best, row = 0, [0] * (len(cited) + 1)
    for word in statement_words:
        new = [0] * (len(cited) + 1)
        for at, other in enumerate(cited, 1):
            if word == other:
                new[at] = row[at - 1] + 1
                best = max(best, new[at])
        row = new
    return best / len(statement_words) if statement_words else 1.0
