"""Sheets on which people label how citations and questions cover their facts (Hu et al. 2025, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.model_wording import automatic_coverage, cited_facts
from granola.evidence.attribution.text_checks import TextCoverage
from granola.evidence.evidence_task import JudgedQuestion, Labels, Row, SheetForm, SheetLine

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
        # Citations without recorded facts cannot be judged.
        groups = [facts for facts in cited_facts(sample) if facts]
        for place, (kind, text, label) in enumerate(automatic_coverage(sample)):
            facts: Sequence[Any] = groups[place] if kind == "citation" else sample.subgraph
            written = " | ".join("; ".join(fact.names) for fact in facts)
            yield {
                "id": f"{sample.id}-{kind[0]}{place}", "kind": kind, "text": text, "facts": written,
                COVERAGE.field: str(label),
            }  # fmt: skip


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    yield SheetLine(cells={name: str(item.get(name) or "") for name in ("kind", "text", "facts")})


def _verdict(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    return {"id": item["id"], "judge": annotator, COVERAGE.field: labels.get(0, {}).get(COVERAGE.field)}


TEXTS = SheetForm(
    shown=("kind", "text", "facts"), questions=(COVERAGE,), lines=_sheet_lines, verdict=_verdict, draw_by="kind"
)
