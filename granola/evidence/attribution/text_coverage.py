"""How texts cover their facts: full coverage, a name missing, or a name that belongs to no fact.

The labels are those of the annotators of Hu et al. 2025 (CAQA), section 4.2; here computed from names alone, and given
by people on sheets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from abstraction.text.language.comparable_words import FUNCTION
from granola.evidence.attribution.attribution_samples import AttributionSample, CitedFact
from granola.evidence.evidence_task import JudgedQuestion, Labels, Row, SheetForm, SheetLine

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


def cited_facts(sample: AttributionSample) -> list[tuple[CitedFact, ...]]:
    """The facts that each citation states, according to the row; empty where the row does not record them."""
    places = sample.cited or ((),) * len(sample.citations)
    return [tuple(sample.evidence[at] for at in of_citation) for of_citation in places]


def is_original(sample: AttributionSample) -> bool:
    """Whether the question is from the source data: then it is not reworded."""
    return sample.provenance.get("extension") == "none" and sample.provenance.get("original_question") is not None


def entity_names(facts: Sequence[CitedFact]) -> tuple[str, ...]:
    """The names of the subjects and objects of facts."""
    return tuple(dict.fromkeys(name for fact in facts for name in (fact.names[0], fact.names[2])))


def required_names(sample: AttributionSample) -> tuple[str, ...]:
    """The names that a question must contain: those of the entities in its query."""
    branches = (sample.query or {}).get("branches", ())
    ids = {entity_id for branch in branches for entity_id in (branch["start"], *branch["via"]) if entity_id is not None}
    ends = [pair for one in sample.subgraph for pair in ((one.subject, one.names[0]), (one.object, one.names[2]))]
    names = [name for entity_id, name in ends if entity_id in ids]
    if (sample.query or {}).get("union"):
        names = [name.partition(" (")[0] for name in names]  # descriptions distinguish namesakes only in citations
    return tuple(dict.fromkeys(names))


def automatic_coverage(sample: AttributionSample) -> Iterator[tuple[str, str, Sequence[CitedFact], TextCoverage]]:
    """Kind, text, facts and label of each citation with recorded facts and of an extended question."""
    for text, facts in zip(sample.citations, cited_facts(sample), strict=True):
        if facts:
            known = [name for fact in facts for name in (fact.names[1], fact.text)]
            yield "citation", text, facts, coverage(text, entity_names(facts), known)[0]
    if not is_original(sample):
        known = [name for fact in sample.subgraph for name in fact.names]
        label, _ = coverage(sample.question, required_names(sample), known)
        yield "question", sample.question, sample.subgraph, label


COVERAGE = JudgedQuestion(
    field="coverage",
    labels={
        TextCoverage.FULL: "it says all of the facts, and nothing that they do not say",
        TextCoverage.ABSENT: "it misses a fact",
        TextCoverage.HALLUCINATED: "it contradicts a fact",
    },
    against=(TextCoverage.ABSENT, TextCoverage.HALLUCINATED),
)
# The paper's annotators: full coverage of 50 citations and 50 extended questions, and their kappa.
PAPER = "the paper's two readers of 100 texts: full coverage of 92 % and 95 %, kappa 0.758"


def text_items(samples: Iterable[AttributionSample]) -> Iterator[dict[str, Any]]:
    """The citations and extended questions of samples, each with its facts and the automatic label."""
    for sample in samples:
        for place, (kind, text, facts, label) in enumerate(automatic_coverage(sample)):
            written = " | ".join("; ".join(fact.names) for fact in facts)
            yield {
                "id": f"{sample.id}-{kind[0]}{place}", "kind": kind, "text": text, "facts": written,
                COVERAGE.field: str(label),
            }  # fmt: skip


def _verdict(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    return {"id": item["id"], "judge": annotator, COVERAGE.field: labels.get(0, {}).get(COVERAGE.field)}


_SHOWN = ("kind", "text", "facts")
TEXTS = SheetForm(
    shown=_SHOWN,
    questions=(COVERAGE,),
    lines=lambda item: iter([SheetLine(cells={name: str(item.get(name) or "") for name in _SHOWN})]),
    verdict=_verdict,
    draw_by="kind",
)
