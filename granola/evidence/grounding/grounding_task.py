"""Grounding as an evidence task: long answers from passages (Sorodoc et al. 2025, GaRAGe)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from granola.evidence.evidence_task import (
    Cells,
    EvidenceTask,
    Forming,
    JudgedQuestion,
    Labels,
    Row,
    SheetForm,
    SheetLine,
)
from granola.evidence.grounding.grounded_samples import RELEVANT_SHARE, Relevance
from granola.evidence.grounding.grounding_items import AnswerVerdict, GroundingItem, SentenceVerdict
from granola.evidence.grounding.grounding_scores import (
    DEFLECTIONS,
    SCORE_FUNCTIONS,
    SHARE_TAGS,
    band_of,
    bands_signature,
    grounding_report,
    grounding_settings,
    item_value,
    reading_of_score,
)
from granola.scoring.aggregation import Estimate

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


def _item(row: Row) -> GroundingItem:
    return GroundingItem.model_validate(row)


def _scores(rows: Sequence[Row], forming: Forming) -> dict[str, Estimate]:
    return grounding_report(list(map(_item, rows)), grounding_settings(forming))


def _value(row: Row, score: str, forming: Forming) -> float | None:
    return (
        item_value(_item(row), score, grounding_settings(forming))
        if score in {*SCORE_FUNCTIONS, *DEFLECTIONS}
        else None
    )


def _band_cells(row: Row, along: str, score: str, forming: Forming) -> Cells | None:
    """The cell of a row along a share of relevant passages, which is cut into bands; None along other fields."""
    if along not in SHARE_TAGS:
        return None
    share, worth = row.get("tags", {}).get(along), _value(row, score, forming)
    return [] if share is None or worth is None else [(band_of(float(share), grounding_settings(forming).bands), worth)]


def _share_tag_or_field(field: str, score: str) -> str:
    """The tag behind a field: `relevant_share` means the share in the score's own reading, strict where it has none."""
    return (reading_of_score(score) or Relevance.STRICT).share_tag if field == RELEVANT_SHARE else field


def _signature(forming: Forming, fields: Iterable[str]) -> str:
    settings = grounding_settings(forming)
    return "|".join(filter(None, [str(settings), bands_signature(fields, settings.bands)]))


def _sheet_lines(item: Row) -> Iterator[SheetLine]:
    asked = item.get("asked") or {}
    passages = "\n".join(f"[{one['id']}] {one['text']}" for one in asked.get("passages") or ())
    shown = {name: str(asked.get(name) or "") for name in ("question", "reference")}
    yield SheetLine(cells={**shown, "text": str(item["answer"]), "passages": passages})
    for number, sentence in enumerate(item["sentences"], 1):
        yield SheetLine(cells={"text": str(sentence["text"])}, part=number)


def _verdict_by_people(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
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
    distinctive_field="expected_deflection",
    judge="judge",
    made_by="granola grounding judge",
    read=lambda record: GroundingItem.of(record).model_dump(mode="json"),
    texts=("answer",),
    questions=(ELIGIBILITY, DEFLECTS, *SENTENCES),
    main="RAF strict",
    scores=_scores,
    value=_value,
    cells=_band_cells,
    along=_share_tag_or_field,
    signature=_signature,
    lacking="E, F and RAF ask a judge's --model, and a reference",
    sheet=SheetForm(
        shown=("question", "reference", "text", "passages"), questions=(ELIGIBILITY, DEFLECTS, SENTENCES[0]),
        lines=_sheet_lines, verdict=_verdict_by_people, draw_by="system",
    ),
)  # fmt: skip
