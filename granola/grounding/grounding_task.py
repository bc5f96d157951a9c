"""Grounding as an evidence task: long answers from passages (Sorodoc et al. 2025, GaRAGe)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from abstraction.files.records import Record
from granola.evidence.evidence_task import (
    EvidenceTask,
    JudgedQuestion,
    Labels,
    Report,
    Row,
    SheetForm,
    SheetLine,
)
from granola.grounding.grounding_items import AnswerVerdict, GroundingItem, SentenceVerdict
from granola.grounding.grounding_scores import GroundingSettings, deflecting, grounding_report, value, worths

_SENTENCE: dict[str, str] = {
    SentenceVerdict.NO_NEED: "it states nothing that needs a source",
    SentenceVerdict.SUPPORTED: "the passages say it, or it follows from them",
    SentenceVerdict.UNSUPPORTED: "they do not say it",
    SentenceVerdict.CONTRADICTORY: "they say what cannot be true together with it",
}
_AGAINST = (SentenceVerdict.UNSUPPORTED, SentenceVerdict.CONTRADICTORY)
ELIGIBILITY = JudgedQuestion(
    field="eligibility",
    labels={
        AnswerVerdict.NO_ISSUES: "it answers what was asked, as the reference does",
        AnswerVerdict.MINOR: "something is missing or said badly",
        AnswerVerdict.MAJOR: "it does not answer, or contradicts the reference",
    },
    against=(AnswerVerdict.MAJOR,),
)
DEFLECTS = JudgedQuestion(
    field="deflects",
    labels={"deflects": "it says that the passages do not suffice", "answers": "it answers, if in part"},
    against=("answers",),
    lacking="deflection",
)
SENTENCES = tuple(
    JudgedQuestion(field=name, labels=_SENTENCE, against=_AGAINST, of_sentences=True, lacking=f"sentences {name}")
    for name in ("all", "strict", "wide")
)


def _read(record: Record) -> dict[str, Any]:
    """Checked by the task's pydantic model. Raises SampleError."""
    return GroundingItem.from_json(record.data).to_json()


def _report(rows: Sequence[Row], resamples: int, seed: int) -> Report:
    systems: dict[str, list[GroundingItem]] = {}
    for row in rows:
        systems.setdefault(str(row.get("system") or row.get("file") or ""), []).append(GroundingItem.from_json(row))
    settings = GroundingSettings(resamples=resamples, seed=seed)
    return {name: grounding_report(items, settings) for name, items in systems.items()}


def _values(rows: Iterable[Row], score: str) -> list[float | None]:
    items = [GroundingItem.from_json(row) for row in rows]
    if score in ("deflection TP", "deflection FP"):
        wanted = score == "deflection TP"
        return [deflecting(item) if item.expected_deflection is wanted else None for item in items]
    return [value(item, score, GroundingSettings()) if score in worths() else None for item in items]


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    asked = item.get("asked") or {}
    passages = "\n".join(f"[{one['id']}] {one['text']}" for one in asked.get("passages") or ())
    shown = {name: str(asked.get(name) or "") for name in ("question", "reference")}
    yield SheetLine(cells={**shown, "text": str(item["answer"]), "passages": passages})
    for number, sentence in enumerate(item["sentences"], 1):
        yield SheetLine(cells={"text": str(sentence["text"])}, part=number)


def _of_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    whole = labels.get(0, {})
    told = whole.get("deflects")
    sentences = [
        {"text": sentence["text"], "all": labels.get(number, {}).get("all")}
        for number, sentence in enumerate(item["sentences"], 1)
    ]
    row = {name: value for name, value in item.items() if name not in ("asked", "unjudged")}
    return row | {
        "judge": annotator, "eligibility": whole.get("eligibility"), "sentences": sentences, "readings": [],
        "deflects": None if told is None else "people" if told == "deflects" else "",
    }  # fmt: skip


GROUNDING = EvidenceTask(
    name="grounding",
    told_by="expected_deflection",
    judge="judge",
    made_by="granola grounding judge",
    read=_read,
    texts=("answer",),
    questions=(ELIGIBILITY, DEFLECTS, *SENTENCES),
    report=_report,
    values=_values,
    sheet=SheetForm(
        shown=("question", "reference", "text", "passages"), questions=(ELIGIBILITY, DEFLECTS, SENTENCES[0]),
        lines=_sheet_lines, verdict=_of_people, draw_by="system",
    ),
)  # fmt: skip
