"""Grounding as an evidence task: long answers from passages (Sorodoc et al. 2025, GaRAGe), with the paper's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from abstraction.files.records import Record
from granola.evidence.evidence_task import (
    EvidenceTask,
    ItemFigure,
    JudgedQuestion,
    Labels,
    PaperTable,
    Report,
    Row,
    SheetForm,
    SheetLine,
)
from granola.grounding.grounded_samples import RELEVANT_SHARE
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


# Tables 2 to 4 of Sorodoc et al. 2025, in percent; the heads of Table 2 are derived from the text.
_TABLE_2: dict[str, tuple[float | None, ...]] = {
    "Claude 3.5 Haiku": (79.37, 51.83, 48.37, 40.00, 36.90), "Claude 3.5 Sonnet": (86.07, 68.48, 64.67, 51.75, 48.91),
    "Gemini 1.5 Flash": (84.88, 81.07, 70.50, 67.78, 59.43), "GPT-4o": (92.47, 62.91, 59.30, 56.18, 52.88),
    "Nova Micro": (90.97, 48.83, 45.02, 39.94, 37.16), "Nova Lite": (80.15, 61.06, 49.25, 55.67, 45.97),
    "Nova Pro": (87.77, 74.47, 66.63, 68.29, 60.67), "Mistral": (85.30, 48.01, 43.32, 38.14, 34.32),
    "Mixtral": (82.72, 47.08, 42.96, 37.31, 34.12), "Qwen2.5 14b": (85.80, 68.20, 59.80, 59.20, 52.70),
    "Qwen2.5 32b": (90.50, 66.10, 61.00, 57.70, 52.90),
}  # fmt: skip
_TABLE_3: dict[str, tuple[float | None, ...]] = {
    "Claude 3.5 Haiku": (15.2, 0.4), "Claude 3.5 Sonnet": (25.3, 1.4), "Gemini 1.5 Flash": (27.2, 2.3),
    "GPT-4o": (31.1, 2.3), "Nova Micro": (7.0, 0.3), "Nova Lite": (7.5, 1.4), "Nova Pro": (18.0, 0.8),
    "Mistral": (5.2, 0.8), "Mixtral": (9.4, 3.3), "Qwen2.5 14b": (17.1, 1.1), "Qwen2.5 32b": (21.5, 1.2),
}  # fmt: skip
_TABLE_4: dict[str, tuple[float | None, ...]] = {
    "Claude 3.5 Haiku": (49.9, 71.9, 58.9), "Claude 3.5 Sonnet": (51.8, 67.5, 58.6),
    "Gemini 1.5 Flash": (54.7, 56.3, 55.5), "GPT-4o": (57.9, 59.0, 58.4), "Nova Micro": (48.2, 75.8, 58.9),
    "Nova Lite": (50.0, 46.4, 48.1), "Nova Pro": (56.9, 49.6, 53.0), "Mistral": (44.4, 60.0, 51.0),
    "Mixtral": (46.3, 56.3, 51.0), "Qwen2.5 14b": (55.2, 43.6, 48.7), "Qwen2.5 32b": (55.2, 47.0, 50.8),
}  # fmt: skip
_COLUMNS_2 = {"E": "E", "uF": "uF", "F": "F", "uRAF": "uRAF strict", "RAF": "RAF strict"}
_COLUMNS_3 = {"deflection TP": "deflection TP", "FP": "deflection FP"}
_COLUMNS_4 = {"P": "cited mean_precision", "R": "cited mean_recall", "F1": "cited f1_of_means"}
_NOTE = (
    "The paper says neither over which questions the five scores run, nor what a deflecting answer is worth in them, "
    "nor which passages are relevant; granola grounding score has settings for all three."
)
_ALL = {
    name: (*_TABLE_2[name], *_TABLE_3[name], *_TABLE_4[name]) for name in _TABLE_2
}  # one table of all systems in the paper's columns

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
    figures={
        "garage-5": ItemFigure(x=("time_sensitivity", "source"), y=("RAF strict",)),
        "garage-6": ItemFigure(x=(RELEVANT_SHARE,), y=("RAF strict",)),
    },
    tables={
        "garage": PaperTable(
            columns=_COLUMNS_2 | _COLUMNS_3 | _COLUMNS_4, printed=_ALL, factor=100, digits=1, note=_NOTE
        ),
        "garage-2": PaperTable(columns=_COLUMNS_2, printed=_TABLE_2, factor=100, digits=2, note=_NOTE),
        "garage-3": PaperTable(columns=_COLUMNS_3, printed=_TABLE_3, factor=100, digits=1),
        "garage-4": PaperTable(columns=_COLUMNS_4, printed=_TABLE_4, factor=100, digits=1),
    },
)  # fmt: skip
