"""Knowledge as an evidence task: texts judged from six sides (Chen et al. 2023, CONNER), with the paper's tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field, field_validator

from abstraction.files.records import Record
from abstraction.files.row_models import RowModel
from granola.evidence.evidence_task import (
    EvidenceTask,
    ItemFigure,
    JudgedQuestion,
    Labels,
    PaperTable,
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


_HEADS = {
    "cons.": "factuality", "non-ver.": "non_verified", "incon.": "refuted", "rel.": "relevance",
    "coh-sent": "coherence_sentence", "coh-para": "coherence_paragraph", "info": "informativeness",
    "help": "helpfulness", "validity": "validity",
}  # fmt: skip
# Tables 2 and 3 of Chen et al. 2023; factuality and validity, there in percent, as shares.
_TABLE_2: dict[str, tuple[float | None, ...]] = {
    "DPR, supervised": (0.9778, 0.0223, 0.0, 0.7514, 0.0301, 0.7194, 0.8965, 0.1236, 0.3686),
    "FLAN-T5, zero-shot": (0.5840, 0.2780, 0.1380, 0.6848, 0.1249, 0.7776, 0.6727, 0.0, 0.3247),
    "LLaMA, zero-shot": (0.9420, 0.0480, 0.0100, 0.7316, 0.1183, 0.8240, 0.7572, 0.2191, 0.42),
    "ChatGPT, zero-shot": (0.8363, 0.1360, 0.0277, 0.8491, 0.0909, 0.9033, 0.7330, 0.1461, 0.4335),
    "FLAN-T5, few-shot": (0.2075, 0.6240, 0.2540, 0.6787, 0.0416, 0.8110, 0.6899, 0.0, 0.3465),
    "LLaMA, few-shot": (0.8900, 0.0920, 0.0180, 0.6966, 0.0776, 0.8550, 0.8545, 0.2528, 0.4049),
    "ChatGPT, few-shot": (0.8607, 0.1097, 0.0296, 0.9205, 0.0653, 0.8837, 0.7700, 0.1966, 0.4236),
}
_TABLE_3: dict[str, tuple[float | None, ...]] = {
    "DPR, supervised": (0.9196, 0.0518, 0.0287, 0.0907, 0.0223, 0.6569, 0.9357, 0.0, 0.6152),
    "FLAN-T5, zero-shot": (0.7790, 0.1728, 0.0482, 0.3776, 0.1203, 0.8331, 0.7239, 0.0904, 0.5697),
    "LLaMA, zero-shot": (0.8946, 0.0889, 0.0165, 0.5041, 0.0548, 0.8389, 0.7889, 0.1178, 0.6350),
    "ChatGPT, zero-shot": (0.8851, 0.1038, 0.0111, 0.5283, 0.1028, 0.9250, 0.7448, 0.1023, 0.5976),
    "FLAN-T5, few-shot": (0.7650, 0.1720, 0.0630, 0.4463, 0.1523, 0.7988, 0.6983, 0.0934, 0.5718),
    "LLaMA, few-shot": (0.8507, 0.1205, 0.0288, 0.3930, 0.1088, 0.7947, 0.7855, 0.1132, 0.6379),
    "ChatGPT, few-shot": (0.8575, 0.1201, 0.0224, 0.4618, 0.0979, 0.8632, 0.7922, 0.1164, 0.6027),
}
_MISPRINT = "FLAN-T5 few-shot is printed with factualities that add up to 108.55 %."
_NOTE = (
    "The paper does not say whether factuality is a mean probability or a share of labels: here the first; "
    "label:consistent and so on are the other."
)

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
    figures={
        "conner-2": ItemFigure(
            x=("popularity", "sentences"), y=("factuality", "non_verified", "refuted"), longer_than=40
        ),
        "conner-3": ItemFigure(
            x=("size",),
            y=("factuality", "relevance", "coherence_paragraph", "informativeness", "helpfulness_raw", "validity"),
        ),
        "conner-4": ItemFigure(x=("settings.pieces",), y=("factuality",), by="settings.reference"),
    },
    tables={
        "conner-2": PaperTable(columns=_HEADS, printed=_TABLE_2, digits=4, note=f"{_NOTE} {_MISPRINT}"),
        "conner-3": PaperTable(columns=_HEADS, printed=_TABLE_3, digits=4, note=_NOTE),
    },
)
