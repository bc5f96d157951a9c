"""Attribution as an evidence task: what citations are to an answer (Hu et al. 2025, CAQA)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from abstraction.files.records import Record
from granola.attribution.categories import Category
from granola.attribution.evaluation import AttributionVerdict, evaluated
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
        name: evaluated(name, name, own, resamples=resamples, seed=seed).figures for name, own in by_evaluator.items()
    }


def _values(rows: Iterable[Row], score: str) -> list[float | None]:
    return [one.right(score) for one in _verdicts(rows)]


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
