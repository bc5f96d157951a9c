"""Knowledge as an evidence task: texts judged from six sides (Chen et al. 2023, CONNER)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field, field_validator

from abstraction.files.records import Record
from abstraction.files.row_models import RowModel
from granola.evidence.evidence_task import (
    EvidenceTask,
    JudgedQuestion,
    Labels,
    Row,
    SheetForm,
    SheetLine,
)
from granola.knowledge.knowledge_summary import summary

LABEL = JudgedQuestion(
    field="factuality_label",
    labels={"consistent": "", "non-verified": "", "inconsistent": ""},
    against=("non-verified", "inconsistent"),
)
# What 2, 1 and 0 mean on each axis (Chen et al. 2023, appendix), in our words.
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
SHOWN = ("topic", "query", "knowledge", "answer", "gold")


class KnowledgeVerdict(RowModel):
    """A row of `granola knowledge judge`, or of a person: scores, each a number or null."""

    id: str = Field(min_length=1, description="a text")
    scores: dict[str, float | None] = Field(description="an object of numbers")

    @field_validator("scores")
    @classmethod
    def _finite(cls, value: dict[str, float | None]) -> dict[str, float | None]:
        if any(score is not None and not math.isfinite(score) for score in value.values()):
            raise ValueError("has a number that is not finite")
        return value


def read_verdict_row(record: Record) -> dict[str, Any]:
    """The row as it is, checked. Raises RowError."""
    KnowledgeVerdict.of(record)
    return dict(record.data)


def _values(rows: Iterable[Row], score: str) -> list[float | None]:
    return [row["scores"].get(score) for row in rows]


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    cells = {name: str(item.get(name) or "") for name in SHOWN if name != "gold"}
    yield SheetLine(cells={**cells, "gold": " / ".join(item.get("gold") or ())})


def _of_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    kept = {name: item[name] for name in ("id", "system", "candidate", "knowledge") if name in item}
    return kept | {
        "judge": annotator, "scores": {f"rated {axis}": float(mark) for axis, mark in labels.get(0, {}).items()}
    }  # fmt: skip


KNOWLEDGE = EvidenceTask(
    name="knowledge",
    told_by="scores",
    judge="judge",
    made_by="granola knowledge judge",
    read=read_verdict_row,
    texts=("knowledge",),
    questions=(LABEL,),
    report=lambda rows, resamples, seed: summary(rows, resamples=resamples, seed=seed),
    values=_values,
    sheet=SheetForm(shown=SHOWN, questions=RATED, lines=_sheet_lines, verdict=_of_people, draw_by="system"),
)
