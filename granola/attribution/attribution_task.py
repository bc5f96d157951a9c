"""Attribution as an evidence task: what citations are to an answer (Hu et al. 2025, CAQA)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic import Field

from abstraction.files.records import Record
from abstraction.files.row_models import RowModel
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, Complexity
from granola.attribution.evaluation import evaluated
from granola.attribution.evaluators import AttributionJudgement
from granola.evidence.evidence_task import (
    EvidenceTask,
    JudgedQuestion,
    Labels,
    Report,
    Row,
    SheetForm,
    SheetLine,
)

CATEGORY = JudgedQuestion(
    field="category",
    labels={
        Category.SUPPORTIVE: "the citations hold all facts that the answer needs",
        Category.PARTIAL: "a part of the facts is missing",
        Category.IRRELEVANT: "they hold no fact that helps",
        Category.CONTRADICTORY: "they hold facts from which another answer follows",
    },
    against=(Category.PARTIAL, Category.IRRELEVANT, Category.CONTRADICTORY),
)


class AttributionVerdict(RowModel):
    """A row of `granola attribution evaluate`, or of a person; `gold_...` is what the sample says."""

    id: str = Field(min_length=1, description="a text")
    evaluator: str = Field(description="the name of who judged")
    category: Category | None = None
    supported: bool | None = None
    gold_category: Category | None = None
    gold_supported: bool | None = None
    complexity: Complexity | None = None
    source: str | None = None

    def sample(self) -> AttributionSample:
        """What is known of the sample that was judged."""
        return AttributionSample(
            id=self.id, question="", statement="", citations=(), category=self.gold_category,
            attributable=self.gold_supported, complexity=self.complexity, provenance={"source": self.source},
        )  # fmt: skip

    def judgement(self) -> AttributionJudgement:
        """What was said of it."""
        return AttributionJudgement(id=self.id, category=self.category, supported=self.supported)


def read_verdict_row(record: Record) -> dict[str, Any]:
    """The row as it is, checked. Raises RowError."""
    AttributionVerdict.of(record)
    return dict(record.data)


def _verdicts(rows: Iterable[Row]) -> list[AttributionVerdict]:
    return [AttributionVerdict.model_validate(row) for row in rows]


def _report(rows: Sequence[Row], resamples: int, seed: int) -> Report:
    by_evaluator: dict[str, list[AttributionVerdict]] = {}
    for verdict in _verdicts(rows):
        if verdict.gold_category is not None or verdict.gold_supported is not None:
            by_evaluator.setdefault(verdict.evaluator, []).append(verdict)
    return {
        name: evaluated(
            name, name, [one.sample() for one in own], [one.judgement() for one in own], resamples=resamples, seed=seed
        ).figures
        for name, own in by_evaluator.items()
    }


def _values(rows: Iterable[Row], score: str) -> list[float | None]:
    """Of micro-F1 whether the label is right, two-way whether it is rightly supported; F1 is no mean over samples."""

    def value(one: AttributionVerdict) -> float | None:
        if score == "two-way micro-F1":
            return None if one.gold_supported is None else float(one.gold_supported is one.supported)
        if score == "micro-F1":
            return None if one.gold_category is None else float(one.gold_category is one.category)
        return None

    return [value(one) for one in _verdicts(rows)]


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    citations = "\n".join(f"[{number}] {text}" for number, text in enumerate(item.get("citations") or (), 1))
    shown = {"question": str(item.get("question") or ""), "statement": str(item.get("statement") or "")}
    yield SheetLine(cells={**shown, "citations": citations})


def _of_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    label = labels.get(0, {}).get(CATEGORY.field)
    category = item.get("category")
    return {
        "evaluator": annotator, "id": item["id"], "category": label,
        "supported": None if label is None else label == Category.SUPPORTIVE, "gold_category": category,
        "gold_supported": item.get("attributable") if category is None else category == Category.SUPPORTIVE,
        "complexity": item.get("complexity"),
    }  # fmt: skip


ATTRIBUTION = EvidenceTask(
    name="attribution",
    told_by="evaluator",
    judge="evaluator",
    made_by="granola attribution evaluate",
    read=read_verdict_row,
    texts=(),
    questions=(CATEGORY,),
    report=_report,
    values=_values,
    sheet=SheetForm(
        shown=("question", "statement", "citations"), questions=(CATEGORY,), lines=_sheet_lines, verdict=_of_people
    ),
)
