"""Knowledge as an evidence task: texts judged on six dimensions (Chen et al. 2023, CONNER)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field, FiniteFloat

from abstraction.files.records import Record
from abstraction.files.row_models import RowModel
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
)
from granola.evidence.knowledge.knowledge_metrics import LABELS
from granola.scoring.aggregation import Estimate
from granola.scoring.statistics import mean_estimate

LABEL = JudgedQuestion(
    field="factuality_label",
    labels={"consistent": "", "non-verified": "", "inconsistent": ""},
    against=("non-verified", "inconsistent"),
)
# The meanings of 2, 1 and 0 on each axis (Chen et al. 2023, appendix), in our words.
AXES = {
    "factuality": ("every sentence can be verified", "some cannot", "some is wrong"),
    "relevance": ("to topic and query", "to the topic alone", "to neither"),
    "coherence": ("fluent; a cut at the end does not count", "minor slips", "hard to understand"),
    "informativeness": ("new to you", "trivial or little", "nothing"),
    "helpfulness": ("holds the answer", "helps indirectly", "no use"),
    "validity": ("the answer is right", "it cannot be told", "it is wrong"),
}
RATED = tuple(
    JudgedQuestion(field=axis, labels=dict(zip("210", meanings, strict=True)), against=("0",))
    for axis, meanings in AXES.items()
)
SHOWN = ("topic", "query", "knowledge", "answer", "gold")  # columns of a sheet for people


class KnowledgeVerdict(RowModel):
    """A row by `granola knowledge judge`, or by a person: scores, each a number or null."""

    id: str = Field(min_length=1, description="a text")
    scores: dict[str, FiniteFloat | None] = Field(description="an object of numbers")


def read_verdict_row(record: Record) -> dict[str, Any]:
    """The unchanged row, after a check. Raises RowError."""
    KnowledgeVerdict.of(record)
    return dict(record.data)


def _scores(rows: Sequence[Row], forming: Forming) -> dict[str, Estimate]:
    """The mean of each score over the texts that have it, and the share of each label as `label:consistent` and so on.
    """

    def mean(values: Sequence[float]) -> Estimate:
        return mean_estimate(values, resamples=forming.resamples, seed=forming.seed)

    names = dict.fromkeys(name for row in rows for name in row["scores"])
    of_names = {name: [row["scores"][name] for row in rows if row["scores"].get(name) is not None] for name in names}
    told = [row["factuality_label"] for row in rows if "factuality_label" in row]
    labels = {f"label:{label}": [float(one == label) for one in told] for label in (LABELS if told else ())}
    return {name: mean(values) for name, values in (of_names | labels).items() if values}


# score -> share of the vector of each sentence
_VECTOR_FIELD = {"factuality": "entailed", "non_verified": "neutral", "refuted": "refuted"}


def _cells(row: Row, along: str, score: str, _: Forming) -> Cells | None:
    """The cells of a row (Chen et al. 2023, Figure 2): along `popularity`, log10 of page views rounded down; along
    `sentences`, their number in the text.

    Along `sentences` each sentence is a unit: its vector gives the value of factuality, non_verified and refuted.
    """
    if along == "sentences":
        sentences, share = row.get("sentences") or [], _VECTOR_FIELD.get(score, "entailed")
        return [(len(sentences), sentence[share]) for sentence in sentences if share in sentence]
    if along != "popularity":
        return None
    views, value = row.get("views"), row["scores"].get(score)
    # log10 needs at least one view.
    if not isinstance(views, int | float) or views < 1 or value is None:
        return []
    return [(int(math.log10(views)), value)]


def _estimate(values: Sequence[float], _: Place, forming: Forming) -> Estimate:
    return mean_estimate(values, resamples=forming.resamples, seed=forming.seed)


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    cells = {name: str(item.get(name) or "") for name in SHOWN if name != "gold"}
    yield SheetLine(cells={**cells, "gold": " / ".join(item.get("gold") or ())})


def _verdict_by_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    kept = {name: item[name] for name in ("id", "system", "candidate", "knowledge") if name in item}
    return kept | {
        "judge": annotator, "scores": {f"rated {axis}": float(mark) for axis, mark in labels.get(0, {}).items()}
    }  # fmt: skip


KNOWLEDGE = EvidenceTask(
    name="knowledge",
    distinctive_field="scores",
    judge="judge",
    made_by="granola knowledge judge",
    read=read_verdict_row,
    texts=("knowledge",),
    questions=(LABEL,),
    main="factuality",
    scores=_scores,
    value=lambda row, score, forming: row["scores"].get(score),
    cells=_cells,
    estimate=_estimate,
    sheet=SheetForm(shown=SHOWN, questions=RATED, lines=_sheet_lines, verdict=_verdict_by_people, draw_by="system"),
)
