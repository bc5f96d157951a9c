"""Attribution as an evidence task: the relation of citations to an answer (Hu et al. 2025, CAQA)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from abstraction.files.records import Record
from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.evaluation import (
    CATEGORIES,
    NO_LABEL,
    AttributionVerdict,
    f1_estimate,
    f1_of,
    micro_f1,
    scores_of,
)
from granola.evidence.evidence_task import (
    Cells,
    EvidenceTask,
    Forming,
    JudgedQuestion,
    Labels,
    Place,
    Row,
    SheetForm,
    SheetLine,
    field_of,
    places,
    plain_estimate,
)
from granola.scoring.aggregation import Estimate

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
    """Return the row unchanged after validation. Raises RowError."""
    AttributionVerdict.of(record)
    return dict(record.data)


def _score_value(row: Row, score: str, _: Forming) -> float | None:
    return AttributionVerdict.model_validate(row).value(score)


F1 = "F1"  # F1 of one category where slices are categories, else micro-F1


def _f1_pairs(row: Row, along: str, score: str, _: Forming) -> Cells | None:
    """The pair (gold, judged category) that a row adds to F1 in each slice; None for scores other than F1.

    Sliced by category, each pair counts in all four slices: a wrong label is a false positive of one category and a
    false negative of another.
    """
    if score != F1:
        return None
    # Two-class samples have no category, so they count in no F1 of categories.
    if row.get("gold_category") is None:
        return []
    pair = row["gold_category"], row.get("category") or NO_LABEL
    return [(place, pair) for place in (CATEGORIES if along == "category" else places(field_of(row, along)))]


def _estimate(values: Sequence[Any], place: Place, forming: Forming) -> Estimate:
    # Pairs belong to F1; all other scores are means of numbers.
    if not isinstance(values[0], tuple):
        return plain_estimate(values, place, forming)
    statistic = f1_of(str(place)) if place in CATEGORIES else micro_f1
    return f1_estimate(values, statistic, forming)


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    citations = "\n".join(f"[{number}] {text}" for number, text in enumerate(item.get("citations") or (), 1))
    shown = {"question": str(item.get("question") or ""), "statement": str(item.get("statement") or "")}
    yield SheetLine(cells={**shown, "citations": citations})


def _people_verdict(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
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
    distinctive_field="evaluator",
    judge="evaluator",
    line="evaluator",
    made_by="granola attribution evaluate",
    read=read_verdict_row,
    texts=(),
    questions=(CATEGORY,),
    main="micro-F1",
    scores=scores_of,
    value=_score_value,
    cells=_f1_pairs,
    estimate=_estimate,
    sheet=SheetForm(
        shown=("question", "statement", "citations"), questions=(CATEGORY,), lines=_sheet_lines, verdict=_people_verdict
    ),
)
